// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudidentity knows which cloud, and which tenant of it, each cluster belongs to: that of the FooClusterIdentity that
// its FooCluster names, or else the one that the manager is set up with.
//
// Where the identity can not be used, be it missing, not allowed for the namespace, or without credentials, the cluster is given a
// cloud that refuses every call and says why. So a controller needs no second way to say it, and never takes for missing
// what it was not allowed to ask for.
//
// Limits: it makes one connection for each identity and keeps it until the identity or its Secret changes. It hears of a changed
// Secret from whoever calls Check, which is the controller of FooClusterIdentities.
package cloudidentity
