// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package options holds the command line flags of the manager and validates them.
//
// The flags match those of Cluster API's own managers wherever these have one for the purpose, so
// that operators of those managers know this one. Contradictory or unknown values cause an error
// that says what is allowed.
//
// Limits: the package chooses no cloud and starts nothing; main.go does.
package options
