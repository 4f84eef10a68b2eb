// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package events delivers the events of a cloud to its watchers.
package events
