// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusteridentity reconciles FooClusterIdentities: it asks the cloud whether it accepts the credentials, uses changed
// ones, and keeps an identity and its Secret for as long as a FooCluster uses it.
//
// Limits: it orders nothing from the cloud. Which namespaces may use an identity is checked where it is used.
package clusteridentity
