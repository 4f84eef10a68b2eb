// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quota holds a Cluster back, before its objects are made, until the quota of the Foo cloud has room for all that its
// topology asks for.
//
// What a topology asks for is computed by Cluster API's own code, as the topology controller will compute it: the templates of
// Foo's infrastructure in the ClusterClass, with its variables and patches applied. The instance types of the cloud say what that
// needs. Templates of control planes and bootstrap providers, which may be anybody's, say nothing of it and are not read.
//
// What was promised to a Cluster is written down nowhere. It follows from what is there: each Cluster that was let go, or that
// has its objects already, may still make what its topology asks for and the cloud does not show under its name. So a promise
// survives restarts, and ends once the instances exist or the Cluster is gone. One process decides, one Cluster after the
// other, and remembers whom it let go until the ledger of jobs shows it.
//
// Limits:
//   - What the external patches of another program do is not known. Machines of a class that has any count as the largest
//     instance type of the cloud, and the outcome says so. The same holds for another Cluster whose class can not be read.
//   - What a Cluster needs for a moment while it rolls out, or later when it is scaled, is not kept free.
//   - A control plane whose number of machines the topology does not say counts as one machine.
//   - Clusters without a topology count by the instances that they have.
//   - Two accounts are the same if they name the same endpoint and tenant. The account that the manager is set up with is taken
//     for another one than those of identities.
package quota
