// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/thread"
)

// spending ends threads whenever a goroutine asks for the end of the context. With one processor, the
// goroutine's own is among them, unless it is locked.
type spending struct{ context.Context }

func (s spending) Done() <-chan struct{} {
	for range 20 {
		_ = thread.Spend(func() error { return nil })
	}
	return s.Context.Done()
}

// Tests never run on the main thread, which cannot end.
func init() { runtime.LockOSThread() }

func TestAThreadThatEndsKillsNoCommand(t *testing.T) {
	g := NewWithT(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	folder := t.TempDir()
	program := filepath.Join(folder, "runtime")
	// What is started asks once more for the end of its context while the runtime runs.
	g.Expect(os.WriteFile(program, []byte("#!/bin/sh\nsleep 0.2\necho 7 > "+filepath.Join(folder, pidFile)+"\n"), 0o700)).To(Succeed())
	c := containers{program: program, state: filepath.Join(folder, "containers")}
	g.Expect(c.exec(spending{t.Context()}, "one", folder, &session{})).To(Equal(7))
}
