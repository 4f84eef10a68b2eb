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

// Package daemon puts the local cloud together and runs it on this host: it checks what the host must have, locks the
// state folder, makes the network, serves the API to callers and names and images to instances, and removes everything again when asked to.
//
// Limits: it is composition. What the cloud does is in package engine, how in packages instance and loadbalancer.
package daemon
