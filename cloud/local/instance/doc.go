// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package instance creates instances. Each instance is an OCI container that runc, or another OCI
// runtime, creates from a bundle. Its root is a copy-on-write view of layers that all instances
// share: the node operating system, the programs of its Kubernetes version, and the node agent,
// which is its first process. An instance has its own namespaces and cgroups, a network card on the
// cloud's bridge, and the limits of its instance type.
//
// A container is created before it is started: its first process waits until the daemon has stored
// its identity. On startup, the daemon removes containers that it has no identity for. The root is
// mounted in a mount namespace that only the runtime enters, so it disappears with the container.
//
// Limits: without a user namespace, root in an instance is root on the host, minus some
// capabilities. All instances share the host's kernel. Unless disks are limited, nothing limits how
// much an instance writes to the state folder's disk.
package instance
