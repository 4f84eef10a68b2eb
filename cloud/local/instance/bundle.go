// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// kubernetesProgram is the program that most Kubernetes programs are links to. It is built last.
const kubernetesProgram = "kubernetes"

// privateDirs are the instance's folders that start empty and live on the state folder's disk. The
// key is the name of the folder on the host.
var privateDirs = map[string]string{
	"containerd": "/var/lib/containerd",
	"kubernetes": "/etc/kubernetes",
	"kubelet":    "/var/lib/kubelet",
	"etcd":       "/var/lib/etcd",
	"log":        "/var/log",
}

// Folders and files in an instance's folder on the host.
const (
	rootFolder    = "root"
	upperFolder   = "upper"
	workFolder    = "work"
	privateFolder = "private"
	// runFolder becomes contract.RunDir. reportFolder holds what the instance reports. It is a
	// mount in the instance, so that the instance cannot replace a folder that the host reads.
	runFolder    = "run"
	reportFolder = "report"
	// identityFolder holds the files that identify the instance, laid out as in the instance.
	identityFolder = "identity"
	// consolePipe is where an instance writes its console output, and consoleFile where that is
	// stored.
	consolePipe = "console"
	consoleFile = "console.log"
	pidFile     = "pid"
	// bundleFile has the name that the OCI runtime specification requires.
	bundleFile = "config.json"
)

// nodeCapabilities are the capabilities that a node needs to run containers. Omitted are those that
// let root change the host as a whole, such as loading modules, setting the clock and rebooting.
// Also omitted are reading the kernel log; CAP_SYS_NICE, with which one instance could take all CPU
// time; and CAP_DAC_READ_SEARCH, which allows opening the host's files by handle.
var nodeCapabilities = map[string]uintptr{
	"CAP_AUDIT_WRITE":      unix.CAP_AUDIT_WRITE,
	"CAP_BPF":              unix.CAP_BPF,
	"CAP_CHOWN":            unix.CAP_CHOWN,
	"CAP_DAC_OVERRIDE":     unix.CAP_DAC_OVERRIDE,
	"CAP_FOWNER":           unix.CAP_FOWNER,
	"CAP_FSETID":           unix.CAP_FSETID,
	"CAP_IPC_LOCK":         unix.CAP_IPC_LOCK,
	"CAP_IPC_OWNER":        unix.CAP_IPC_OWNER,
	"CAP_KILL":             unix.CAP_KILL,
	"CAP_LEASE":            unix.CAP_LEASE,
	"CAP_MKNOD":            unix.CAP_MKNOD,
	"CAP_NET_ADMIN":        unix.CAP_NET_ADMIN,
	"CAP_NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE,
	"CAP_NET_BROADCAST":    unix.CAP_NET_BROADCAST,
	"CAP_NET_RAW":          unix.CAP_NET_RAW,
	"CAP_PERFMON":          unix.CAP_PERFMON,
	"CAP_SETFCAP":          unix.CAP_SETFCAP,
	"CAP_SETGID":           unix.CAP_SETGID,
	"CAP_SETPCAP":          unix.CAP_SETPCAP,
	"CAP_SETUID":           unix.CAP_SETUID,
	"CAP_SYS_ADMIN":        unix.CAP_SYS_ADMIN,
	"CAP_SYS_CHROOT":       unix.CAP_SYS_CHROOT,
	"CAP_SYS_PACCT":        unix.CAP_SYS_PACCT,
	"CAP_SYS_PTRACE":       unix.CAP_SYS_PTRACE,
	"CAP_SYS_RESOURCE":     unix.CAP_SYS_RESOURCE,
	"CAP_SYS_TTY_CONFIG":   unix.CAP_SYS_TTY_CONFIG,
}

// capabilities returns the nodeCapabilities that this process may grant.
func capabilities() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(nodeCapabilities)) {
		if allowed, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, nodeCapabilities[name], 0, 0, 0); err == nil && allowed == 1 {
			names = append(names, name)
		}
	}
	return names
}

// writeBundle writes the bundle from which the OCI runtime creates an instance's container.
func (d *Driver) writeBundle(spec engine.MachineSpec) error {
	container := d.container(spec)
	first, err := d.usersOf(spec.ID)
	if err != nil {
		return err
	}
	if first != hostUsers {
		if err := d.separate(container, spec.ID, first); err != nil {
			return err
		}
	}
	text, err := json.Marshal(container)
	if err != nil {
		return fmt.Errorf("encode the container's configuration: %w", err)
	}
	if err := os.WriteFile(filepath.Join(d.folder(spec.ID), bundleFile), text, fileMode); err != nil {
		return fmt.Errorf("write the container's configuration: %w", err)
	}
	return nil
}

func (d *Driver) container(spec engine.MachineSpec) *specs.Spec {
	given := capabilities()
	return &specs.Spec{
		Version:  specs.Version,
		Hostname: spec.Hostname,
		Root:     &specs.Root{Path: rootFolder},
		Process: &specs.Process{
			Args: []string{contract.AgentDir + "/" + contract.AgentName, "init"}, Env: []string{"PATH=" + contract.SearchPath}, Cwd: "/",
			Capabilities: &specs.LinuxCapabilities{Bounding: given, Effective: given, Permitted: given},
		},
		Mounts: append(kernelMounts(), d.ownMounts(spec)...),
		Linux: &specs.Linux{
			CgroupsPath: containerGroup(spec.ID),
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace}, {Type: specs.MountNamespace}, {Type: specs.NetworkNamespace},
				{Type: specs.UTSNamespace}, {Type: specs.IPCNamespace}, {Type: specs.CgroupNamespace},
			},
			// The cgroup above this one limits the instance. The device rules here must not allow
			// more than that cgroup does.
			Resources: &specs.LinuxResources{Devices: deviceRules()},
			// The kubelet does not start without a kernel log. The real one is the host's, so the
			// instance gets an empty one.
			Devices:       []specs.LinuxDevice{{Path: "/dev/kmsg", Type: "c", Major: 1, Minor: 3, FileMode: ptr.To(os.FileMode(0o600))}},
			MaskedPaths:   []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/kmsg", "/proc/latency_stats", "/proc/scsi", "/proc/timer_list", "/sys/devices/virtual/dmi", "/sys/firmware"},
			Seccomp:       refused(),
			ReadonlyPaths: append(hostSettings(), "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sysrq-trigger"),
		},
	}
}

func deviceRules() []specs.LinuxDeviceCgroup {
	allowed := allowedDevices()
	rules := make([]specs.LinuxDeviceCgroup, 0, len(allowed))
	number := func(number int64) *int64 {
		if number == anyNumber {
			return nil
		}
		return &number
	}
	for _, rule := range allowed {
		rules = append(rules, specs.LinuxDeviceCgroup{
			Allow: rule.Allow, Type: string(rule.Type), Major: number(rule.Major), Minor: number(rule.Minor), Access: string(rule.Permissions),
		})
	}
	return rules
}

// refused lists system calls that no node needs and that change the host as a whole, even without
// the omitted capabilities.
func refused() *specs.LinuxSeccomp {
	architectures := map[string][]specs.Arch{
		"amd64": {specs.ArchX86_64, specs.ArchX86, specs.ArchX32},
		"arm64": {specs.ArchAARCH64, specs.ArchARM},
	}
	return &specs.LinuxSeccomp{
		DefaultAction: specs.ActAllow,
		Architectures: architectures[runtime.GOARCH],
		Syscalls: []specs.LinuxSyscall{{
			Action: specs.ActErrno,
			Names: []string{
				"acct", "delete_module", "finit_module", "init_module", "kexec_file_load", "kexec_load", "open_by_handle_at", "perf_event_open",
				"quotactl", "quotactl_fd", "reboot", "swapoff", "swapon", "syslog",
			},
		}, {
			// Keys belong to users, and therefore to the host's users. Container runtimes do
			// without them on a kernel that has none.
			Action: specs.ActErrno, ErrnoRet: ptr.To(uint(unix.ENOSYS)),
			Names: []string{"add_key", "keyctl", "request_key"},
		}},
	}
}

// hostSettings returns the settings below /proc/sys that belong to the host: all except net, which
// every instance has its own copy of.
func hostSettings() []string {
	entries, err := os.ReadDir("/proc/sys")
	if err != nil {
		return []string{"/proc/sys"}
	}
	var paths []string
	for _, entry := range entries {
		if entry.Name() != "net" {
			paths = append(paths, filepath.Join("/proc/sys", entry.Name()))
		}
	}
	return paths
}

func kernelMounts() []specs.Mount {
	return []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=64k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=64m"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: []string{"nosuid", "noexec", "nodev", "relatime"}},
		{Destination: "/run", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "nodev", "mode=755", "size=256m"}},
		{Destination: "/tmp", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "nodev", "mode=1777", "size=1g"}},
	}
}

// ownMounts returns the mounts of an instance's run, report and private folders.
func (d *Driver) ownMounts(spec engine.MachineSpec) []specs.Mount {
	folder := d.folder(spec.ID)
	names := slices.Sorted(maps.Keys(privateDirs))
	mounts := slices.Grow([]specs.Mount{
		bind(filepath.Join(folder, runFolder), contract.RunDir), bind(filepath.Join(folder, reportFolder), contract.ReportDir),
	}, len(names))
	for _, name := range names {
		mounts = append(mounts, bind(filepath.Join(d.disk(spec.ID), privateFolder, name), privateDirs[name]))
	}
	return mounts
}

func bind(source, destination string) specs.Mount {
	return specs.Mount{Destination: destination, Type: "bind", Source: source, Options: []string{"bind", "private", "rw"}}
}
