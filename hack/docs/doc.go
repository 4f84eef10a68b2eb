// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs has no code. Its tests check the README and the pages of docs/ against the sources:
// links are not broken, and the make targets and repository files that pages name exist.
//
// Limits: it does not check whether what a page says about them is true.
package docs
