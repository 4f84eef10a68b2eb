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

// Package client talks to the local cloud's daemon over its HTTP API and implements cloud.Cloud. Errors are the typed
// ones of package cloud; a daemon that can not be reached is an UnavailableError that names the endpoint.
//
// It keeps the pace that the cloud asks for. A call that meets an error of the server, or no answer, is made again within about a
// second, unless the cloud is known to be down for longer. Once the cloud has throttled a call, all calls of the client fail with
// a ThrottledError, without reaching the cloud, until the time has passed that the cloud asked to wait.
//
// Limits: longer trouble is for callers to wait out. Streams are never opened again.
package client
