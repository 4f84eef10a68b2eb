// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudidentity determines which cloud, and which tenant of it, each cluster belongs to:
// that of the FooClusterIdentity that its FooCluster names, or else the one that the manager is set
// up with.
//
// If the identity cannot be used because it is missing, not allowed for the namespace, or without
// credentials, the cluster gets a cloud that refuses every call and gives the reason. A controller
// thus needs no second way to report it, and never mistakes what it was not allowed to query for
// missing.
//
// Limits: it keeps one connection per identity until the identity or its Secret changes. It learns
// of a changed Secret from the caller of Check, which is the controller of FooClusterIdentities.
package cloudidentity
