// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command contract writes docs/contract.md: each rule of Cluster API's provider contracts, whether
// it is mandatory, the code that implements it and the tests that verify it, or that one of them is
// missing.
//
// The rules are the table in rules.go. The contract documents in the Cluster API module of go.mod
// determine which are mandatory. A rule that is only in a document or only in the table is an
// error, so the table is complete for the version that the code is compiled with.
//
// Code names the rule that it implements in a line of its doc comment, or in a comment after a
// struct field:
//
//	//contract:control-plane/kubeconfig
//
// A Ginkgo test names it with a label, with a dot instead of the slash, which Ginkgo does not
// allow:
//
//	Label("contract:control-plane.kubeconfig")
//
// A plain test function names it in a line of its doc comment, like code. A name that is not a rule
// is an error.
//
// With --verify, the command writes nothing and fails if the document is stale.
//
// Limits: it cannot judge whether a marker or a label is in the right place.
package main
