// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process knows a Linux process by its ID and start time, so that it is found again, and never mistaken for
// another, after the program that started it has been restarted.
//
// Limits: how a process ended is known only to the program that started it.
package process
