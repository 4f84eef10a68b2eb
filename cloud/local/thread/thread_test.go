// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"errors"
	"os"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// With one processor, a new goroutine gets the thread of the goroutine that waits for it. Each one
// that ends with its thread makes the next use another, the main thread among them.
func TestSpendNeverUsesTheMainThread(t *testing.T) {
	g := NewWithT(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	failed := errors.New("failed")
	for range 1000 {
		var used int
		g.Expect(Spend(func() error {
			used = unix.Gettid()
			return failed
		})).To(MatchError(failed))
		g.Expect(used).NotTo(Equal(os.Getpid()))
		g.Eventually(func() error { return unix.Tgkill(os.Getpid(), used, 0) }).
			Should(MatchError(unix.ESRCH), "the thread ends")
	}
}
