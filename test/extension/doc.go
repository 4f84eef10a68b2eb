// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package extension tests the runtime extension from the perspective of Cluster API's runtime: its
// servers are called over TLS, several of them run as replicas, and the ConfigMaps of their jobs
// are in a real kube-apiserver. The test determines what the jobs do.
//
// Limits: Cluster API's own runtime does not run here; in test/e2e it calls a released extension on
// real machines.
package extension
