// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package extensions is Foo's runtime extension: which task does the jobs of which hook, and with
// which settings.
//
// Each package below does one thing: hooks answers lifecycle hooks and runs their tasks. Most of the
// others are tasks. Only the quota check knows a cloud.
//
// Limits: the hooks of in-place updates are not served.
package extensions
