// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package extension tests the runtime extension as Cluster API's runtime meets it: its servers are called over TLS, several of
// them run, as replicas do, and the ConfigMaps of their jobs are in a real kube-apiserver. What the jobs do is up to the test.
//
// Limits: Cluster API's own runtime does not run here; test/e2e has it call a released extension on real machines.
package extension
