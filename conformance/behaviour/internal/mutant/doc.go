// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutant has a small provider that obeys all rules of the contracts, and violates exactly
// one of them if it is told to. Tests use it to show that each check of package behaviour notices
// what it is for, and nothing else.
//
// Limits: it makes nothing. It only works when its Step is called, so that tests are fast and never
// wait for something that will not happen.
package mutant
