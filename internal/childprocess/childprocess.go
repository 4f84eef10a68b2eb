// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package childprocess starts programs that do not outlive this one.
//
// Limits: Linux only, because of the death signal.
package childprocess

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a program in its own process group, so that Ctrl-C does not reach it. The program
// gets SIGTERM when this process ends, even if it is killed. The channel is closed once the program
// has ended and its ProcessState is set.
func Start(cmd *exec.Cmd) (<-chan struct{}, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		// The kernel sends the signal when the thread that started the program ends, so keep the
		// thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // ProcessState has the result
		}
	}()
	return done, <-started
}
