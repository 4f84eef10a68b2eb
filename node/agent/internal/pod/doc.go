// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pod turns the container of a privileged Pod into an instance, as another cloud would have
// prepared it before its first process starts: cgroups of its own, the files of the node contract,
// and its host name.
//
// Limits: it prepares only what a container runtime leaves out. Namespaces for processes, mounts,
// network, host names and IPC are those of the Pod. Volumes must be at the folders that cannot be on
// an overlay.
package pod
