// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinepool reconciles FooMachinePools: it orders one instance pool for each, creates a
// FooMachine for each instance so that Cluster API creates a Machine for it, and removes instances
// by deleting their Machines, so that their Nodes are drained first. The controller of the
// FooMachine deletes the instance.
//
// Which Machines are removed, and when, is one decision for scale-down, rollout, repair and the
// remediation that a MachineHealthCheck requests: see disrupt. All of them share maxSurge and
// maxUnavailable.
//
// Limits: one object holds the whole list of provider IDs, which reaches its limit near 8,000
// instances. Bootstrap data that is rendered differently, for example by a newer bootstrap
// provider, counts as changed and triggers a rollout. While an external autoscaler manages the
// replicas, a size that it requests during a replacement is overwritten.
package machinepool
