// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
