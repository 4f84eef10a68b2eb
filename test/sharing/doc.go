// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharing tests that managers with different values of --watch-filter can share a
// management cluster and a cloud without touching each other's objects.
//
// Limits: the controllers run in one process with a simulated cloud, and Cluster API does not run:
// the test does the work of its controllers.
package sharing
