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

// Package instance makes instances: each is an OCI container that runc, or another OCI runtime, makes from a bundle. Its root is a
// copy-on-write view of layers that all instances share: the operating system of nodes, the programs of its Kubernetes version, and the node
// agent, which is its first process. It has namespaces and cgroups of its own, a network card on the cloud's bridge, and the limits of its type.
//
// A container is created before it is started. Its first process waits until its identity is stored, and a container whose identity nobody
// knows is removed when the daemon starts. The root is mounted in a mount namespace that only the
// runtime is in, and goes with the container.
//
// Limits: root in an instance is root in the host's user namespace, without some capabilities; instances share the kernel. Nothing limits
// what an instance writes to the state folder's disk, the log of its console included.
package instance
