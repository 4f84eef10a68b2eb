// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinepool reconciles FooMachinePools: it orders one instance pool for each, makes a FooMachine for each instance so
// that Cluster API makes a Machine for it, and removes instances by deleting their Machines, so that their Nodes are drained
// first. An instance of the pool is deleted by the controller of its FooMachine.
//
// Which Machines go, and when, is one decision for scale down, rollout, repair and the remediation that a MachineHealthCheck asks
// for: see disrupt. All of them draw on maxSurge and maxUnavailable.
//
// Limits: one object holds the whole list of provider IDs, which ends near 8,000 instances. Bootstrap data that is rendered
// differently, as a newer bootstrap provider may do, is other bootstrap data and rolls the pool. While an external autoscaler
// manages the replicas, a size that it asks for during a rollout is taken over after the rollout.
package machinepool
