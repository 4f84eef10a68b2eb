// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hooks answers the lifecycle hooks of Cluster API and does the work that they request.
//
// A handler answers within milliseconds, but a snapshot takes minutes, and an add-on waits for an
// API server that does not exist yet. So a handler only records a job and reports its progress. A
// single controller runs the tasks of the job. Handlers run in several replicas. A job survives
// restarts, is done once however often and wherever its hook is called, and its progress can be
// read with kubectl. The jobs of a Cluster run one after the other, and each run sees the Cluster as it
// is then. So no job recreates what the clean-up before a deletion has deleted.
//
// A job is a HookJob in the namespace of its Cluster, one for each Cluster, ExtensionConfig, hook and
// versions, owned by the Cluster. If the hook is called again long after the job was completed, or with
// settings that ask for more than it has done, the job gets a new attempt. Permission to call a hook does
// not include permission to choose how its job is done: a job names an ExtensionConfig and is done with
// its settings.
//
// Before a deletion, the jobs of several ExtensionConfigs wait for each other: no clean-up begins before
// all snapshots and backups have ended.
//
// Messages appear in conditions of the Cluster, so the same state must give the same text: no
// addresses, ports and times, a stable order, and a bounded length.
//
// Limits: hooks are called only for Clusters with a topology. Answers do not depend on the status
// of the request's Cluster, because Cluster API leaves it out. ExtensionConfigs with the same
// settings share their jobs, because Cluster API does not say for which of them it calls a hook;
// only AfterControlPlaneInitialized, which is called once, has a job for each of them. A job is kept
// until its Cluster is gone. A Cluster that was moved has a new UID, and its hooks run again,
// including AfterControlPlaneInitialized, whose job is moved without its status.
package hooks
