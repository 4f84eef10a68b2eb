// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const (
	// runSize and tempSize limit the file systems in memory.
	runSize  = "256m"
	tempSize = "1g"
	// kernelLog is where the kubelet reads which processes the kernel has killed.
	kernelLog = "/dev/kmsg"
)

// Enter prepares the instance and replaces this program by `foonode init`. It returns only if that
// fails.
func Enter() error {
	// A cgroup namespace belongs to a thread, and the thread that starts the program keeps it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := separateCgroups(cgroupFolder, "/proc/self/cgroup"); err != nil {
		return fmt.Errorf("cgroups: %w", err)
	}
	for folder, size := range map[string]string{"/run": runSize, "/tmp": tempSize} {
		if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size="+size); err != nil {
			return fmt.Errorf("mount %s: %w", folder, err)
		}
	}
	if err := os.Chmod("/tmp", os.ModeSticky|0o777); err != nil {
		return fmt.Errorf("permissions of /tmp: %w", err)
	}
	if err := provideKernelLog(kernelLog, "/dev/null"); err != nil {
		return fmt.Errorf("kernel log: %w", err)
	}
	instance, err := describe(contract.IdentityDir, os.Getenv(contract.AddressVariable))
	if err != nil {
		return err
	}
	if err := identify("/", instance, contract.IdentityDir); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(instance.Hostname)); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	err = unix.Exec(program, []string{contract.AgentName, "init"}, append(os.Environ(), contract.EndVariable+"=true"))
	return fmt.Errorf("start %s: %w", program, err)
}

// provideKernelLog puts an empty device where the kubelet, which does not start without one, looks
// for the kernel log. Nodes that give privileged containers none of their devices do not have it.
func provideKernelLog(path, empty string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return unix.Mount(empty, path, "", unix.MS_BIND, "")
}

// Fail leaves a message about what keeps the instance from starting where Kubernetes looks for it.
func Fail(problem error) error {
	if err := os.WriteFile(contract.TerminationLog, []byte(problem.Error()), 0o600); err != nil {
		return errors.Join(problem, err)
	}
	return problem
}
