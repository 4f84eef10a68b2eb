// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot takes etcd snapshots of workload clusters: before each step of an upgrade of the
// control plane, which is held until the snapshot is stored, and before a Cluster is deleted, which
// is held only for a limited time.
//
// A Job in the workload cluster takes the snapshot, on a control plane machine. It reads etcd there,
// with the certificates of that machine, and sends the snapshot to its bucket. So no snapshot passes
// through the management cluster, each cluster's snapshot is independent of all others, and only the
// Job needs the libraries of object stores and opens etcd's database. The Job has no Kubernetes
// credentials. It gets a copy of the Secret with the bucket's credentials, which is deleted as soon
// as the Job has ended.
//
// Both are off until a setting turns them on.
//
// Limits: only etcd that kubeadm runs on the control plane machines can be reached, with certificates
// in kubeadm's default folder. With any other etcd, an upgrade is held unless the setting
// snapshotExternalEtcd says otherwise. A deletion is not held, because such an etcd is not deleted.
// While the Job runs, administrators of the workload cluster can read the credentials.
package snapshot
