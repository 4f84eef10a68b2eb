// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig keeps the secret <cluster>-kubeconfig, through which Cluster API, its users and this project reach
// the API server of a cluster.
//
// A kubeconfig that a user made is honoured and never changed. That of this project gets a new client certificate when half
// of the old one's life is over. A kubeconfig that is not for the cluster is reported and never replaced, for it may be the
// certificate authority that is the wrong one.
//
// Limits: a kubeconfig that a user made is not told when its credentials expire.
package kubeconfig
