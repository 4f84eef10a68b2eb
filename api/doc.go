// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api holds the tests that all versions of Foo's kinds share. They check that schemas and
// Go types follow the conventions of Kubernetes and Cluster API, that every field is documented,
// and that the CRDs are small enough for kubectl apply.
//
// Limits: the rules are the ones that Cluster API selects from kube-api-linter, as far as schemas
// and Go files show them. v1beta1 follows the earlier types of Cluster API, which break most of
// these rules, so only some apply to it.
package api
