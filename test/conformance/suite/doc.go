// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package suite is Kubernetes' own end-to-end tests, built unmodified from their module. The only
// addition writes the result of each test to a file as soon as the test has ended, so that a run
// can be stopped at any time and resumed later.
package suite
