// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot takes etcd snapshots of workload clusters: before each step of an upgrade of the
// control plane, which is held until the snapshot is stored, and before a Cluster is deleted, which
// is held only for a limited time.
//
// Both are off until a setting turns them on.
//
// Limits: only etcd that kubeadm runs on the control plane machines can be reached. With any other
// etcd, an upgrade is held unless the setting snapshotExternalEtcd says otherwise. A deletion is
// not held, because such an etcd is not deleted.
package snapshot
