// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package suite is Kubernetes' own end-to-end tests, built from their module. They are unmodified; what is added writes the result of each
// test to a file as soon as the test has ended, so that who runs them can stop at any time and go on later.
package suite
