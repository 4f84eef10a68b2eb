// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's PIDFD_GET_INFO. Exit information requires Linux 6.15 or newer.
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

// describe formats an exit status in the same way as childExit.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
