// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fake provides machines and load balancers that run nothing, for tests of code that uses
// them. Tests can make them fail, end and report on demand. They outlive an engine, as real ones
// do.
package fake
