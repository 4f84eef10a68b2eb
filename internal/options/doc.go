// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package options holds the command line flags of the manager and turns them into the options of controller-runtime.
//
// The flags are those of Cluster API's own managers wherever these have one for the purpose, so that whoever runs those
// knows this one. Contradictory or unknown values end in an error that says what is allowed.
//
// Limits: the package chooses no cloud and starts nothing; main.go does.
package options
