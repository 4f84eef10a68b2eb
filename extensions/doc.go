// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package extensions is Foo's runtime extension: which task does the jobs of which hook, and with which settings.
//
// The packages below each do one thing: lifecycle answers hooks, work keeps and does their jobs, server serves, and the others
// are the tasks. None of them but the check of quota knows a cloud.
//
// Limits: the hooks of in-place updates are not served.
package extensions
