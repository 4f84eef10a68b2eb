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

// Package instance makes the inside of an instance from Linux namespaces: a copy-on-write root over the host's root, an
// own network card on the cloud's bridge, own processes, host name and IPC. It is no container engine and no security
// boundary: who is root in an instance can break out of it, and must be trusted as root of the host is.
//
// The host side (Driver) starts foocloud again in new namespaces; the child side (Init) builds the root and then becomes
// the node agent. The child does nothing that can be seen outside before its identity is stored, and ends by itself
// when the daemon is gone before that, so a killed daemon leaves nothing half made. All mounts are made in the child's
// own mount namespace and go with its last process.
//
// Limits: file systems that are mounted below the host's root are not part of an instance's root.
package instance
