// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api holds the tests that all versions of Foo's kinds share: that schemas and Go types keep to the conventions of
// Kubernetes and Cluster API, that every field says what it is for, and that the CRDs are small enough to be applied.
//
// Limits: the rules are those of kube-api-linter in the selection of Cluster API that can be told from the schemas and from
// the Go files. v1beta1 follows the earlier types of Cluster API, which break most of them, so only some hold for it.
package api
