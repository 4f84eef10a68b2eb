// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process identifies a Linux process by its ID and start time. After the program that
// started it restarts, it can find the process again and never mistakes another one for it.
//
// Limits: before Linux 6.15, how a process ended may be known only to its parent.
package process
