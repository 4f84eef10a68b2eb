// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store keeps the state of the local cloud in one bbolt file: instances, pools, load
// balancers, fault rules, addresses and the IDs that were handed out. Every change is a transaction
// that is on disk when it returns.
//
// Limits: only one process at a time can use the file. The file contains bootstrap data, so only
// its owner can read it.
package store
