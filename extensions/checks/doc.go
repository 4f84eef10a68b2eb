// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package checks looks at a workload cluster around an upgrade: before it, whether it can go well; between its steps, whether
// the cluster still works; after it, whether all is as it should be, by a Job of the user's own too.
//
// What is read is an observation, and each check is a pure function of one that returns what it found in words for people. A
// cluster that can not be reached is a finding like any other.
//
// Limits:
//   - Objects are read, and no packets are sent: a Ready endpoint of the DNS service says that its pod is ready, not that names
//     resolve.
//   - /readyz, /livez and /metrics are those of the one API server that the cluster's endpoint leads to. With several, a
//     deprecated API may be known to another one, and each forgets with its process what was requested.
//   - etcd is judged by what the API server and the static pods say of it. External etcd has no pods.
//   - Static pods are looked for only where there are any, as kubeadm makes them.
package checks
