// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package service keeps a program of an instance running, as a unit of systemd of type notify does.
//
// A service counts as started when its program says so itself. It is restarted when it ends, at once first and then with growing pauses.
// While a file that it needs is missing it is not started, since it would only fail: it is then "activating", and starts as soon as the
// file is there.
//
// Limits: a program that hangs is not noticed; there is no watchdog.
package service
