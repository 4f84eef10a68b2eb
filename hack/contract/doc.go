// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command contract writes docs/contract.md: each rule of Cluster API's provider contracts, whether it is mandatory, the
// code that meets it and the tests that show it, or that one of them is missing.
//
// The rules are the table in rules.go, and what is mandatory comes from the contract documents in the Cluster API module
// of go.mod. A rule that a document has and the table has not, or the other way round, is an error, so the table is
// complete for the version that the code is compiled with.
//
// Code names the rule that it meets in a line of its docstring, or in a comment behind a struct field:
//
//	//contract:control-plane/kubeconfig
//
// A ginkgo test names it with a label, in which a dot stands for the slash, since ginkgo allows none:
//
//	Label("contract:control-plane.kubeconfig")
//
// A plain test function does so with a line in its docstring, as code does. A name that is no rule is an error.
//
// With --verify nothing is written, and the command fails if the document is stale.
//
// Limits: that a marker or a label stands in the right place is for the reader to judge.
package main
