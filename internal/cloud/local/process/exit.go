// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's PIDFD_GET_INFO, of Linux 6.15 and newer where it is about exits.
const (
	pidfdInfoExit = 1 << 3
	// pidfdGetInfo is _IOWR(0xff, 11, the first version of the structure).
	pidfdGetInfo = 3<<30 | unsafe.Sizeof(pidfdInfo{})<<16 | 0xff<<8 | 11
)

// pidfdInfo is the first version of the kernel's struct pidfd_info.
type pidfdInfo struct {
	mask     uint64
	_        [13]uint32
	exitCode int32
}

// childExit waits for a child that has ended.
func childExit(cmd *exec.Cmd) string {
	if err := cmd.Wait(); err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// Adopt makes this program the parent of processes whose own parent ends, as the OCI runtime does. Only a parent is told how a
// process ended, and has to collect it.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	return nil
}

// otherExit tells how a process ended that this program has not started: if it was adopted, as a parent; otherwise from what is
// left of it until its parent has waited for it, and then from the kernel, which does not tell before Linux 6.15.
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

func exitCode(conn syscall.RawConn) (syscall.WaitStatus, error) {
	info := pidfdInfo{mask: pidfdInfoExit}
	var failed syscall.Errno
	err := conn.Control(func(fd uintptr) {
		_, _, failed = unix.Syscall(unix.SYS_IOCTL, fd, pidfdGetInfo, uintptr(unsafe.Pointer(&info)))
	})
	switch {
	case err != nil:
		return 0, err
	case failed != 0:
		return 0, failed
	case info.mask&pidfdInfoExit == 0:
		return 0, unix.EAGAIN
	}
	return syscall.WaitStatus(info.exitCode), nil
}

// describe says it in the words of a child's end.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
