// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusteridentity reconciles FooClusterIdentities: it checks whether the cloud accepts the
// credentials, picks up changed credentials, and keeps an identity and its Secret for as long as a
// FooCluster uses the identity.
//
// Limits: it creates nothing in the cloud. Whether a namespace may use an identity is checked where
// the identity is used.
package clusteridentity
