// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig keeps the Secret <cluster>-kubeconfig, through which Cluster API, its users
// and this project reach the API server of a cluster.
//
// A kubeconfig that a user created is used and never changed. One that this project created gets a
// new client certificate when half of the old one's lifetime is over. A kubeconfig that is not for
// the cluster is reported and never replaced, because it may be the certificate authority that is
// wrong. One that needs a program or a file is refused, because whoever may write it may not have
// the permissions of this program.
//
// Limits: nothing warns that the credentials of a user's kubeconfig expire.
package kubeconfig
