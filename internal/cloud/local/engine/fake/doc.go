// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fake holds machines and load balancers that run nothing, for tests of what stands on them. A test makes them
// fail, end and report at will. They outlive an engine, as real ones do.
package fake
