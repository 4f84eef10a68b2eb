// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fake is an in-memory cloud for testing users of a cloud. It follows the rules of the
// cloud interface, reports changes as events, counts calls, and fails on purpose if a test asks for
// it.
//
// By default everything happens immediately: an instance runs when its order returns, and a
// deletion is finished when its call returns. In mode Manual, instances stay Pending or Deleting
// until the test changes that.
//
// Limits: it runs nothing, hands out addresses that nobody listens on, and loses its state when the
// process ends.
package fake
