// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle answers the lifecycle hooks of Cluster API, with one small method for each hook
// and one place that decides the answer.
//
// If the settings or an annotation of the Cluster leave a hook nothing to do, the hook does not
// block. Otherwise it asks the ledger of package work, blocks the Cluster until the job is done,
// and reports what it waits for. A handler reads a cache and writes at most one object, so it
// finishes within milliseconds, however long the job takes.
//
// Limits: hooks are called only for a topology that Cluster API manages. Answers do not depend on
// the status of the request's Cluster, because Cluster API leaves it out.
package lifecycle
