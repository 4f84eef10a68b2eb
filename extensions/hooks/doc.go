// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hooks answers the lifecycle hooks of Cluster API and does the work that they request.
//
// A handler answers within milliseconds, but a snapshot takes minutes, and an add-on waits for an
// API server that does not exist yet. So a handler only records a job and reports its progress. A
// single controller runs the tasks of the job. Handlers run in several replicas. A job survives
// restarts, is done once however often and wherever its hook is called, and its progress can be
// read with kubectl.
//
// A job is a ConfigMap in the namespace of its Cluster, one for each Cluster, hook and versions,
// owned by the Cluster. Permission to write a job, or to call a hook, does not include permission
// to choose how it is done: a job names an ExtensionConfig and is done with its settings.
//
// Messages appear in conditions of the Cluster, so the same state must give the same text: no
// addresses, ports and times, a stable order, and a bounded length.
//
// Limits: hooks are called only for Clusters with a topology. Answers do not depend on the status
// of the request's Cluster, because Cluster API leaves it out. What a job did is kept until its
// Cluster is gone. A Cluster that was moved has a new UID, and its hooks run again. Only jobs of
// hooks that are not called again continue after the move.
package hooks
