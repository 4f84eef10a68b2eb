// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package thread runs code on threads that enter other namespaces.
package thread

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Spend runs a function on a thread that ends with it, and with it the namespaces that only this
// thread has entered.
func Spend(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// The main thread cannot end, and would keep its namespaces as long as the process runs.
			// While it is locked, the function gets another one.
			defer runtime.UnlockOSThread()
			done <- Spend(do)
			return
		}
		// Never unlocked: a thread in another namespace must not run anything else.
		done <- do()
	}()
	return <-done
}
