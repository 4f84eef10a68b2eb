// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fault defines fault rules: which faults the local cloud can cause on purpose, what a rule
// strikes, and when.
//
// A rule consists of a Spec that a user adds and its state. Whether it strikes is drawn from its
// seed and the number of earlier draws, so the same seed gives the same faults, even across
// restarts of the daemon.
//
// Limits: the package only decides, and changes only the rule's own counters. The engine carries
// out the faults, and the server carries out the faults of calls.
package fault
