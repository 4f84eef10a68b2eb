// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package checks looks at a workload cluster around an upgrade: before it, whether it can go well;
// between its steps, whether the cluster still works; after it, whether everything is as it should
// be, optionally with the user's own Job.
//
// The content that is read is an observation. Each check is a pure function of an observation that
// returns its findings in words for users. A cluster that cannot be reached is a finding like any
// other.
//
// Limits:
//   - The checks read objects and send no packets: a Ready endpoint of the DNS service means that
//     its pod is ready, not that names resolve.
//   - /readyz, /livez and /metrics come from the one API server that the cluster's endpoint leads
//     to. If there are several, another one may know of requests for a deprecated API, and each API
//     server forgets them when its process ends.
//   - etcd is judged by what the API server and the static pods report about it. External etcd has
//     no pods.
//   - Static pods are checked only if there are any, as in clusters that kubeadm created.
package checks
