// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package work does what a hook asks for and outlives the call that asked: a handler answers within milliseconds, while a
// snapshot takes minutes, and an add-on waits for an API server that is not there yet.
//
// A job is written down as a ConfigMap in the namespace of its Cluster, one for each Cluster, hook and versions, owned by the
// Cluster. Handlers, of which several replicas run, only write jobs and read how far they have come; a controller, of which
// one runs, does them. So a job survives restarts, is done once however often and wherever the hook is called, and its state
// can be read with kubectl.
//
// Who may write a job, or call a hook, does not say how it is done: a job names an ExtensionConfig and is done with its
// settings.
//
// Limits: what a job did is kept until its Cluster is gone. A Cluster that was moved has another UID, and its hooks run anew. Only
// jobs of hooks that are not called again go on where it was moved to.
package work
