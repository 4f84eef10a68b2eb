// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle answers the lifecycle hooks of Cluster API: one small type for each, and one place that decides what to
// answer.
//
// A hook that has nothing to do, by the settings or by an annotation of the Cluster, is let go at once. Otherwise it asks the
// ledger of package work, blocks the Cluster until the job is done, and says what is waited for. A handler reads a cache and
// writes at most one object, so it is done in milliseconds whatever the job takes.
//
// Limits: only a topology that Cluster API manages has hooks. Answers depend on nothing in the status of the request's Cluster,
// which Cluster API leaves out.
package lifecycle
