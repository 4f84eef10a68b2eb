// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance tests that an implementation of the cloud interface keeps the interface's rules: calls that may be repeated,
// typed errors, pools that shrink by deletions only, events of all that changes. The clouds of this repository are held to it, and
// whoever writes another one can hold it to it:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Options{New: newTestAccount, Patience: 10 * time.Minute})
//	}
//
// Limits: it orders real instances, at most three at a time, with bootstrap data that does nothing. Quota, capacity, throttling,
// credentials and reports of bootstrap data cannot be caused through the interface, and are not tested. An instance is lost only where
// Options.Lose says how.
package conformance
