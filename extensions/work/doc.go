// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package work does jobs that outlive the hook call that requested them. A handler answers within
// milliseconds, but a snapshot takes minutes, and an add-on waits for an API server that does not
// exist yet.
//
// A job is recorded as a ConfigMap in the namespace of its Cluster, one for each Cluster, hook and
// versions, owned by the Cluster. Handlers run in several replicas. They only record jobs and read
// their progress. A single controller does the jobs. So a job survives restarts, is done once
// however often and wherever the hook is called, and its state can be read with kubectl.
//
// Permission to write a job, or to call a hook, does not include permission to choose how it is
// done: a job names an ExtensionConfig and is done with its settings.
//
// Limits: what a job did is kept until its Cluster is gone. A Cluster that was moved has a new UID,
// and its hooks run again. Only jobs of hooks that are not called again continue after the move.
package work
