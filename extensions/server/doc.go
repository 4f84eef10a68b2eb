/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package server is the server that Cluster API's runtime calls: Cluster API's own, with Foo's handlers.
//
// It is the webhook server of the manager, so certificates are read anew when they change. With a client CA it takes calls only
// from who has a certificate of that CA, as Cluster API's manager has with --runtime-extension-client-cert-file. That CA is
// read anew too.
//
// Limits: HTTPS only, as Cluster API demands. Request bodies are at most 20 MiB. A caller whose CA is replaced may go on with
// connections that are open.
package server
