// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package documented compares the documentation with what programs have: their commands and flags, and
// their metrics. Tests of the programs use it.
//
// Limits: of a shell, it understands words, quotes, comments and continued lines only.
package documented
