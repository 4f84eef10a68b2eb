// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fault says what a fault rule is: which faults the local cloud can have on purpose, whom a rule strikes, and when.
//
// A rule is a Spec that a user adds, and what became of it. Whether it strikes is drawn from its seed and the number of
// draws before, so that the same seed gives the same faults, also after the daemon was restarted.
//
// Limits: the package decides and changes nothing but the rule's own counters. What a fault does is done by the engine, and
// for calls by the server.
package fault
