// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package service keeps a program of an instance running, like a systemd unit of type notify.
//
// A service counts as started when its program reports that it is ready. When the program ends, it
// is restarted, first almost immediately and then with growing pauses. While a file that the
// program needs is missing, it is not started, because it would only fail. The service is
// "activating" until the file exists, and then starts immediately.
//
// Limits: a program that hangs is not detected, because there is no watchdog.
package service
