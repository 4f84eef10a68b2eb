// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fake is a cloud in memory, for tests of what uses a cloud. It keeps the rules of the cloud interface, tells of
// changes as events, counts calls, and fails on purpose where a test asks for it.
//
// By default things happen at once: an instance runs when its order returns, and a deletion is over when its call
// returns. With Options.Manual they wait in state Pending or Deleting until the test says otherwise.
//
// Limits: it runs nothing, gives out addresses that nobody listens on, and keeps no state after the process.
package fake
