// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quota holds a Cluster back, before its objects are created, until the quota of the Foo
// cloud has room for everything that its topology asks for.
//
// What a topology asks for is the sum of its templates of Foo's infrastructure, with the variables
// and patches of the ClusterClass applied. The instance types of the cloud determine what that
// needs. Templates of control planes and bootstrap providers may come from anybody. They say
// nothing about the demand and are not read.
//
// Promises to Clusters are not recorded. They follow from the current state: each Cluster that was
// let through, or that already has its objects, may still create what its topology asks for and the
// cloud does not show under its name. So a promise survives restarts, and ends once the instances
// exist or the Cluster is gone. A single process decides about one Cluster at a time. It remembers
// which Clusters it let through, because their jobs may not be recorded as completed yet.
//
// Limits:
//   - The effect of external patches of another program is unknown. Machines of a class that has
//     such patches count as the largest instance type of the cloud, and the outcome says so. The
//     same holds for another Cluster whose class cannot be read.
//   - No room is reserved for what a Cluster needs temporarily during a rollout, or later when it
//     is scaled.
//   - A control plane counts as one machine if the topology does not set its number of machines.
//   - Clusters without a topology count with the instances that they have.
//   - Two accounts are the same if they name the same endpoint and tenant. The account in the
//     manager's own configuration always counts as different from those of identities.
package quota
