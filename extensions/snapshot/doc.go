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

// Package snapshot takes etcd snapshots of workload clusters: before each step of an upgrade of the control plane, which is
// held until the snapshot is stored, and before a Cluster is deleted, which is held for a bounded time only.
//
// Both are off until a setting turns them on. Settings describes what else can be set.
//
// Limits: only etcd that kubeadm runs on the control plane machines can be reached. For another one the upgrade is held,
// unless the setting snapshotExternalEtcd says otherwise; its deletion is not held, since such an etcd is not deleted.
package snapshot
