// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharing tests that managers which are told different values of --watch-filter share a management cluster, and a
// cloud, without touching each other's objects.
//
// Limits: the controllers run in one process with a cloud that is simulated, and nothing of Cluster API runs: the test does
// the part of its controllers.
package sharing
