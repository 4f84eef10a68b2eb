// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live checks a provider with a real cluster: it creates one from a template in a
// management cluster, scales it, replaces its machines, upgrades it, moves it and deletes it.
//
// What must hold of a cluster in which nothing is left to do is data: judgements look at the objects
// that were read, and at nothing else. The steps in between change one thing, and compare what was
// read before with what is there afterwards.
//
// With Releases, clusterctl installs the providers first, upgrades them under a cluster, and removes
// them at the end. Otherwise they must be there.
//
// Limits: one template and one version of the contract, which is the newest that a kind's CRD is
// labelled with, as Cluster API itself uses it. The cluster must not have a managed topology. A move
// does what clusterctl move does, but within one management cluster: it deletes all objects while the
// cluster is paused, and creates them again without their status.
package live
