// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// childExit waits for a child that has ended, and returns how it ended.
func childExit(cmd *exec.Cmd) string {
	if err := cmd.Wait(); err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// Adopt makes this program the parent of descendants whose own parent ends, as the OCI runtime
// does. Only its parent learns how a process ended, and the parent has to reap it.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	return nil
}

// Children returns the IDs of the processes whose parent this program is now. It misses some that
// come or go at the same time, and all on a kernel without CONFIG_PROC_CHILDREN.
func Children() (children []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is valid
	for _, file := range files {
		text, _ := os.ReadFile(file) // the thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				children = append(children, pid)
			}
		}
	}
	return children
}

// otherExit returns how a process ended that this program did not start. If this program adopted
// the process, it reaps it. Otherwise it reads the exit code from the zombie, as long as the parent
// has not reaped it, and then asks the kernel, which does not report it before Linux 6.15.
func otherExit(id Identity, conn syscall.RawConn) string {
	var status unix.WaitStatus
	if pid, err := unix.Wait4(id.PID, &status, unix.WNOHANG, nil); err == nil && pid == id.PID {
		return describe(syscall.WaitStatus(status))
	}
	if now, err := readStat(id.PID); err == nil && now.startTime == id.StartTime && now.state == stateZombie {
		return describe(now.exit)
	}
	code, err := exitCode(conn)
	if err != nil {
		return unknownExit
	}
	return describe(code)
}

// exitCode asks the kernel how a process ended. That requires Linux 6.15 or newer.
func exitCode(conn syscall.RawConn) (syscall.WaitStatus, error) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	var failed error
	err := conn.Control(func(fd uintptr) { failed = unix.IoctlPidfdInfo(int(fd), &info) })
	if err = cmp.Or(err, failed); err != nil {
		return 0, err
	}
	if info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, unix.EAGAIN
	}
	return syscall.WaitStatus(info.Exit_code), nil
}

// describe formats an exit status in the same way as childExit.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
