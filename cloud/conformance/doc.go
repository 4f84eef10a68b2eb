// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance tests that an implementation of the cloud interface follows the interface's
// rules: calls may be repeated, errors are typed, immutable fields stay, reads are consistent, pools
// shrink only by deletions, and every change produces an event. All clouds in this repository must
// pass it. Use it to test other implementations:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Options{New: newTestAccount, Patience: 10 * time.Minute})
//	}
//
// Limits: it orders real instances, at most three at a time, with bootstrap data that does nothing.
// It does not test quota, capacity, throttling, credentials or bootstrap reports, because the
// interface offers no way to cause them. It tests the loss of an instance only if Options.Lose is
// set, and the loss of a pool only if Options.LosePool is set.
package conformance
