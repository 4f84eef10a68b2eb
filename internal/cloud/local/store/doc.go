// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store keeps the state of the local cloud in one bbolt file: instances, pools, load balancers, fault rules,
// addresses and the IDs that were given out. Every change is a transaction that is on disk when it returns.
//
// Limits: one process at a time. The file holds bootstrap data and is readable by its owner only.
package store
