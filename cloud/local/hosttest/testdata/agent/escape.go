// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// escapeTimeout is how long one try may take.
const escapeTimeout = 20 * time.Second

// goal is what the host has, and nobody else should find.
type goal struct {
	// file of the host, a folder of the cloud, and the name of a network card of the host.
	file, state, bridge string
	// program that runs on the host, name of an abstract socket of the host, and key of the host's root.
	program, abstract, key string
	// disk is the numbers of a block device of the host, "major:minor".
	disk string
}

// A try returns nil when it got out. None does harm then: what it could change it leaves as it is.
var tries = []struct {
	name string
	try  func(goal) error
}{
	{"unmount-covers", unmountCovers},
	{"host-file", func(g goal) error { return findFile(g.file) }},
	{"host-token", func(g goal) error { return findFile(filepath.Join(g.state, "token")) }},
	{"leaked-descriptor", leakedDescriptor},
	{"host-socket", hostSocket},
	{"abstract-socket", abstractSocket},
	{"host-card", hostCard},
	{"host-process", hostProcess},
	{"file-handle", fileHandle},
	{"namespace-handle", namespaceHandle},
	{"host-disk", hostDisk},
	{"host-devices", hostDevices},
	{"devtmpfs", func(goal) error { return mountNew("devtmpfs", "", "null") }},
	{"settings-remount", func(goal) error { return rewrite(uncovered("/proc/sys/kernel"), "core_pattern") }},
	{"settings-fresh-proc", func(goal) error {
		return inFresh("proc", func(proc string) error { return rewrite(proc+"/sys/kernel", "core_pattern") })
	}},
	{"sysrq", func(goal) error {
		return first(writable(uncovered("/proc/sysrq-trigger")), inFresh("proc", func(proc string) error { return writable(proc + "/sysrq-trigger") }))
	}},
	{"kernel-memory", func(goal) error { return inFresh("proc", func(proc string) error { return readable(proc + "/kcore") }) }},
	{"kernel-log", kernelLog},
	{"sysfs-remount", func(goal) error {
		_ = unix.Mount("", "/sys", "", unix.MS_REMOUNT, "")
		_ = unix.Mount("", "/sys", "", unix.MS_REMOUNT|unix.MS_BIND, "")
		return sysfs("/sys")
	}},
	{"sysfs-fresh", func(goal) error { return inFresh("sysfs", sysfs) }},
	{"tracefs", func(goal) error { return mountNew("tracefs", "", "trace") }},
	{"debugfs", func(goal) error { return mountNew("debugfs", "", ".") }},
	{"securityfs", func(goal) error { return mountNew("securityfs", "", ".") }},
	{"configfs", func(goal) error { return mountNew("configfs", "", ".") }},
	{"pstore", func(goal) error { return mountNew("pstore", "", ".") }},
	{"efivarfs", func(goal) error { return mountNew("efivarfs", "", ".") }},
	{"binary-formats", binaryFormats},
	{"cgroup-outside", cgroupOutside},
	{"cgroup-release-agent", releaseAgent},
	{"cgroup-new-hierarchy", func(goal) error { return mountNew("cgroup", "none,name=foo-escape", "release_agent") }},
	{"host-key", hostKey},
	{"load-module", func(goal) error { return refusedOnly(unix.InitModule(nil, "")) }},
	{"kexec", func(goal) error { return refusedCall(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0x8000) }},
	{"reboot", func(goal) error { return refusedCall(unix.SYS_REBOOT, 0, 0, 0, 0) }},
	{"swap", func(goal) error { return refusedOnly(swapOn("/nowhere")) }},
	{"accounting", func(goal) error { return refusedOnly(unix.Acct("/nowhere")) }},
	{"clock", func(goal) error {
		var zone [2]int32
		return refusedCall(unix.SYS_SETTIMEOFDAY, 0, uintptr(unsafe.Pointer(&zone)), 0, 0)
	}},
	{"bpf", bpf},
	{"perf-events", perfEvents},
	{"real-time", func(goal) error {
		return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	}},
}

// escape tries everything, each in a process and a mount namespace of its own, and prints a line for each.
func escape(arguments []string) {
	var g goal
	flags := flag.NewFlagSet("escape", flag.ExitOnError)
	only := flags.String("only", "", "the only one to try")
	for name, value := range map[string]*string{
		"file": &g.file, "state": &g.state, "bridge": &g.bridge, "program": &g.program, "abstract": &g.abstract, "key": &g.key, "disk": &g.disk,
	} {
		flags.StringVar(value, name, "", "")
	}
	_ = flags.Parse(arguments) // it ends the program itself
	for _, one := range tries {
		switch *only {
		case "":
			fmt.Printf("%s: %s\n", one.name, apart(append([]string{"escape", "--only", one.name}, arguments...)))
		case one.name:
			fmt.Println(verdict(one.try(g)))
		}
	}
}

func verdict(err error) string {
	if err == nil {
		return "ESCAPED"
	}
	return "held: " + strings.ReplaceAll(err.Error(), "\n", "; ")
}

// apart runs this program in a mount namespace of its own, where that is allowed, and returns what it prints.
func apart(arguments []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), escapeTimeout)
	defer cancel()
	var text []byte
	var err error
	for _, flags := range []uintptr{syscall.CLONE_NEWNS, 0} {
		command := exec.CommandContext(ctx, "/proc/self/exe", arguments...)
		command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags}
		if text, err = command.Output(); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return "held: it failed: " + err.Error()
}

// refusedOnly is nil for errors that are about what was asked for, and not about whether one may.
func refusedOnly(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		return err
	}
	return nil
}

func refusedCall(number, one, two, three, four uintptr) error {
	_, _, errno := unix.Syscall6(number, one, two, three, four, 0, 0)
	if errno == 0 {
		return nil
	}
	return refusedOnly(errno)
}

func exists(path string) error {
	_, err := os.Lstat(path)
	return err
}

// first is nil if one of the errors is.
func first(errs ...error) error {
	if slices.Contains(errs, nil) {
		return nil
	}
	return errors.Join(errs...)
}

func writable(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

func readable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = file.Read(make([]byte, 1))
	return err
}

// rewrite writes to a file what is in it.
func rewrite(folder, name string) error {
	path := filepath.Join(folder, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// uncovered makes a path of the kernel as free and writable as it can, and returns it.
func uncovered(path string) string {
	for range 3 {
		_ = unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND, "")
		_ = unix.Unmount(path, unix.MNT_DETACH)
	}
	_ = unix.Mount("", "/proc", "", unix.MS_REMOUNT|unix.MS_BIND, "")
	return path
}

// inFresh mounts a file system of the kernel anew and does something with it.
func inFresh(kind string, do func(string) error) error {
	folder, err := os.MkdirTemp("", "escape-")
	if err != nil {
		return err
	}
	if err := unix.Mount(kind, folder, kind, 0, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return do(folder)
}

// mountNew mounts a file system of the kernel and looks for what it has.
func mountNew(kind, options, name string) error {
	folder, err := os.MkdirTemp("", "escape-")
	if err != nil {
		return err
	}
	if err := unix.Mount(kind, folder, kind, 0, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return exists(filepath.Join(folder, name))
}

func mountPoints() []string {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	var list []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			list = append(list, fields[4])
		}
	}
	return list
}

func unmountCovers(g goal) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for _, path := range slices.Backward(mountPoints()) {
		_ = unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND, "")
		_ = unix.Unmount(path, unix.MNT_DETACH)
	}
	return first(exists(g.file), exists(g.state))
}

// findFile looks for a file of the host where a process, or a mount, has another root.
func findFile(path string) error {
	roots, _ := filepath.Glob("/proc/[0-9]*/root")
	more, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, root := range slices.Concat([]string{"/"}, roots, more, mountPoints()) {
		if exists(filepath.Join(root, path)) == nil {
			return nil
		}
	}
	// Under whatever folder: only its last name is looked for, and its size tells whether it is that file.
	found := fs.ErrNotExist
	_ = filepath.WalkDir("/", func(here string, entry fs.DirEntry, err error) error {
		if here == "/proc" || here == "/sys" || err != nil {
			return fs.SkipDir
		}
		if strings.HasSuffix(here, path) {
			found = nil
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func leakedDescriptor(g goal) error {
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, descriptor := range descriptors {
		// Not joined: each step up is the kernel's.
		if exists(descriptor+strings.Repeat("/..", 20)+g.file) == nil && exists(g.file) != nil {
			return nil
		}
	}
	return fs.ErrNotExist
}

func hostSocket(g goal) error {
	errs := []error{fs.ErrNotExist}
	roots, _ := filepath.Glob("/proc/[0-9]*/root")
	for _, root := range append(roots, "/") {
		conn, err := net.Dial("unix", filepath.Join(root, g.state, "foocloud.sock"))
		if err == nil {
			_ = conn.Close()
		}
		errs = append(errs, err)
	}
	if slices.Contains(errs, nil) {
		return nil
	}
	return errs[0]
}

func abstractSocket(g goal) error {
	conn, err := net.Dial("unix", "@"+g.abstract)
	if err != nil {
		return err
	}
	return conn.Close()
}

func hostCard(g goal) error {
	_, err := net.InterfaceByName(g.bridge)
	if err == nil {
		return nil
	}
	return inFresh("sysfs", func(sys string) error { return exists(filepath.Join(sys, "class/net", g.bridge)) })
}

func hostProcess(g goal) error {
	look := func(proc string) error {
		names, _ := filepath.Glob(proc + "/[0-9]*/comm")
		for _, name := range names {
			if text, _ := os.ReadFile(name); strings.TrimSpace(string(text)) == g.program {
				return nil
			}
		}
		return fmt.Errorf("none of %d processes is %s", len(names), g.program)
	}
	return first(look("/proc"), inFresh("proc", look))
}

// fileHandle opens the root of the file system that a folder lies on, which on ext4 has the number 2.
func fileHandle(goal) error {
	errs := []error{fs.ErrNotExist}
	for _, path := range []string{"/var/lib/etcd", "/var/log", "/etc/hosts", "/etc/resolv.conf", "/"} {
		mount, err := os.Open(path)
		if err != nil {
			continue
		}
		defer func() { _ = mount.Close() }()
		_, err = unix.OpenByHandleAt(int(mount.Fd()), unix.NewFileHandle(1, []byte{2, 0, 0, 0, 0, 0, 0, 0}), unix.O_RDONLY)
		errs = append(errs, err)
	}
	return first(errs...)
}

// namespaceHandle opens the first mount namespace, which is the host's, by its number.
func namespaceHandle(goal) error {
	const nsfsRoot, nsfsHandle = -10003, 0xf1
	for number := byte(1); number < 32; number++ {
		handle := unix.NewFileHandle(nsfsHandle, []byte{number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		if _, err := unix.OpenByHandleAt(nsfsRoot, handle, 0); err == nil {
			return nil
		} else if errors.Is(err, unix.EPERM) {
			return err
		}
	}
	return unix.ESTALE
}

func openDevice(kind uint32, major, minor uint32) error {
	folder, err := os.MkdirTemp("", "escape-")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "device")
	if err := unix.Mknod(path, kind|0o600, int(unix.Mkdev(major, minor))); err != nil {
		return fmt.Errorf("mknod: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

func hostDisk(g goal) error {
	major, minor, _ := strings.Cut(g.disk, ":")
	one, err := strconv.ParseUint(major, 10, 32)
	if err != nil {
		return err
	}
	two, err := strconv.ParseUint(minor, 10, 32)
	if err != nil {
		return err
	}
	return openDevice(unix.S_IFBLK, uint32(one), uint32(two))
}

func hostDevices(goal) error {
	errs := []error{openDevice(unix.S_IFBLK, 7, 0)} // loop0
	for _, numbers := range [][2]uint32{
		{1, 1}, {1, 2}, {1, 4}, {1, 11}, // memory, kernel memory, ports, the kernel's log
		{10, 237}, {10, 232}, {10, 229}, {10, 130}, {4, 0}, {4, 64}, // loop-control, kvm, fuse, watchdog, terminals
	} {
		errs = append(errs, openDevice(unix.S_IFCHR, numbers[0], numbers[1]))
	}
	return first(errs...)
}

func kernelLog(goal) error {
	_, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 1024))
	open := func(proc string) error {
		// It is only opened: whoever reads takes away.
		file, err := os.OpenFile(proc+"/kmsg", os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		return file.Close()
	}
	return first(err, inFresh("proc", open))
}

func sysfs(folder string) error {
	errs := []error{fs.ErrNotExist}
	for _, pattern := range []string{
		"kernel/mm/transparent_hugepage/enabled", "kernel/mm/ksm/run", "block/*/queue/nr_requests", "class/mem/null/uevent",
		"devices/system/cpu/cpu*/online", "module/*/parameters/*", "power/state",
	} {
		paths, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, path := range paths {
			if writable(path) == nil {
				return nil
			}
			errs = append(errs, fmt.Errorf("%s is not writable", pattern))
		}
	}
	return errs[len(errs)-1]
}

// binaryFormats looks for those of the host: in a user namespace the kernel has others.
func binaryFormats(goal) error {
	users, _ := os.ReadFile("/proc/self/uid_map")
	return inFresh("binfmt_misc", func(folder string) error {
		if strings.Join(strings.Fields(string(users)), " ") != "0 0 4294967295" {
			return errors.New("they are those of the user namespace")
		}
		return writable(folder + "/register")
	})
}

// hierarchies returns the types and options with which the hierarchies of cgroups are mounted.
func hierarchies() [][2]string {
	list := [][2]string{{"cgroup2", ""}, {"cgroup", "none,name=systemd"}}
	text, _ := os.ReadFile("/proc/cgroups")
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); !strings.HasPrefix(line, "#") && len(fields) > 0 {
			list = append(list, [2]string{"cgroup", fields[0]})
		}
	}
	return list
}

// cgroupOutside looks for the group of all instances, which is above that of this one.
func cgroupOutside(goal) error {
	errs := []error{exists("/sys/fs/cgroup/foo")}
	for _, one := range hierarchies() {
		errs = append(errs, mountNew(one[0], one[1], "foo"))
	}
	return first(errs...)
}

func releaseAgent(goal) error {
	var errs []error
	for _, one := range hierarchies() {
		folder, err := os.MkdirTemp("", "escape-")
		if err == nil {
			err = unix.Mount(one[0], folder, one[0], 0, one[1])
		}
		if err == nil {
			err = rewrite(folder, "release_agent")
		}
		errs = append(errs, err)
	}
	return first(errs...)
}

func hostKey(g goal) error {
	const userKeys = -4
	_, err := unix.KeyctlSearch(userKeys, "user", g.key, 0)
	return err
}

func bpf(goal) error {
	// BPF_PROG_GET_NEXT_ID lists the programs of the whole machine.
	const nextProgram = 11
	var attributes [16]uint64
	_, _, errno := unix.Syscall(unix.SYS_BPF, nextProgram, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes))
	if errno == 0 {
		return nil
	}
	return refusedOnly(errno)
}

// perfEvents counts what happens on a CPU of the host, whoever does it.
func perfEvents(goal) error {
	attributes := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
	descriptor, err := unix.PerfEventOpen(attributes, -1, 0, -1, 0)
	if err != nil {
		return err
	}
	return unix.Close(descriptor)
}

func swapOn(path string) error {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SWAPON, uintptr(unsafe.Pointer(name)), 0, 0)
	if errno == 0 {
		return nil
	}
	return errno
}
