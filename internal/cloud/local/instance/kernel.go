/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// hostWide are files of /proc with which an instance would change the whole host.
var hostWide = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}

// networkSettings are the settings below /proc/sys that belong to the instance's network namespace.
const networkSettings = "/proc/sys/net"

// mountKernel mounts /proc and /sys. Settings are read-only, but for those of the network.
func mountKernel(r root, _ config) error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := r.mount(mount{source: "proc", target: "/proc", kind: "proc", flags: flags}); err != nil {
		return err
	}
	if err := r.mount(mount{source: "sysfs", target: "/sys", kind: "sysfs", flags: flags | unix.MS_RDONLY}); err != nil {
		return err
	}
	for _, target := range hostWide {
		if err := protect(r, target); err != nil {
			return err
		}
	}
	path := r.path(networkSettings)
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", networkSettings, err)
	}
	// The bind took over the read-only flag.
	if err := unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT, ""); err != nil {
		return fmt.Errorf("make %s writable: %w", networkSettings, err)
	}
	return nil
}

func protect(r root, target string) error {
	path := r.path(target)
	err := unix.Mount(path, path, "", unix.MS_BIND, "")
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mount %s: %w", target, err)
	}
	return r.readOnly(target)
}

// device is a device node that every program may use.
type device struct {
	name         string
	major, minor uint32
	mode         uint32
}

var devices = []device{
	{"null", 1, 3, 0o666},
	{"zero", 1, 5, 0o666},
	{"full", 1, 7, 0o666},
	{"random", 1, 8, 0o666},
	{"urandom", 1, 9, 0o666},
	// The kubelet reads the kernel's messages to learn of processes that were killed for want of memory.
	{"kmsg", 1, 11, 0o400},
	{"tty", 5, 0, 0o666},
}

var deviceLinks = map[string]string{
	"fd":      "/proc/self/fd",
	"stdin":   "/proc/self/fd/0",
	"stdout":  "/proc/self/fd/1",
	"stderr":  "/proc/self/fd/2",
	"ptmx":    "pts/ptmx",
	"console": "/proc/1/fd/1",
}

func mountDevices(r root, _ config) error {
	if err := r.mount(mount{source: "tmpfs", target: "/dev", kind: "tmpfs", flags: unix.MS_NOSUID, data: "size=64k,mode=755"}); err != nil {
		return err
	}
	for _, d := range devices {
		path := r.path(filepath.Join("/dev", d.name))
		if err := unix.Mknod(path, unix.S_IFCHR|d.mode, int(unix.Mkdev(d.major, d.minor))); err != nil {
			return fmt.Errorf("make /dev/%s: %w", d.name, err)
		}
	}
	for name, target := range deviceLinks {
		if err := os.Symlink(target, r.path(filepath.Join("/dev", name))); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
	}
	const flags = unix.MS_NOSUID | unix.MS_NOEXEC
	for _, m := range []mount{
		{source: "devpts", target: "/dev/pts", kind: "devpts", flags: flags, data: "newinstance,ptmxmode=0666,mode=620"},
		{source: "tmpfs", target: "/dev/shm", kind: "tmpfs", flags: flags | unix.MS_NODEV, data: "size=64m,mode=1777"},
		{source: "mqueue", target: "/dev/mqueue", kind: "mqueue", flags: flags | unix.MS_NODEV},
	} {
		if err := r.mount(m); err != nil {
			return err
		}
	}
	return nil
}
