//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// emulated is how long Kubernetes may take on a virtual machine whose processors are emulated, which
// is 10 to 20 times slower.
const emulated = 40 * time.Minute

// virtualMachine is a machine of a user: a Debian with its own kernel and systemd, and a release of
// Foo in /media. It reaches neither this machine nor the internet.
type virtualMachine struct {
	// folder holds its disk, its console's output and the key of its root user.
	folder string
	// port is the port of its SSH server on the loopback interface of this machine.
	port int32
	qemu *daemon
	// download is the size of the release's archive in bytes.
	download int64
}

// newVirtualMachine starts a machine with a release of Debian, and waits until it is up.
func newVirtualMachine(ctx context.Context, release string) *virtualMachine {
	GinkgoHelper()
	v := &virtualMachine{folder: filepath.Join(suiteDir, "machine-"+release), port: freePort(ctx)}
	Expect(os.Mkdir(v.folder, 0o700)).To(Succeed())
	v.host(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", v.file("key"))
	key, err := os.ReadFile(v.file("key.pub"))
	Expect(err).NotTo(HaveOccurred())
	built := filepath.Join(bin, "machines", release)
	v.host(ctx, "qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", filepath.Join(built, "disk.img"), v.file("disk.qcow2"))
	v.download = v.pack(ctx)

	// qemu is a tree of Debian packages with their own C library. Its firmware is in two of them.
	qemu := filepath.Join(bin, "machines/qemu/usr")
	v.qemu = start(v.command(context.WithoutCancel(ctx), filepath.Join(qemu, "lib64/ld-linux-x86-64.so.2"),
		"--library-path", filepath.Join(qemu, "lib/x86_64-linux-gnu"), filepath.Join(qemu, "bin/qemu-system-x86_64"),
		"-L", filepath.Join(qemu, "share/qemu"), "-L", filepath.Join(qemu, "share/seabios"),
		"-machine", "q35", "-accel", accelerator(), "-cpu", "max", "-smp", "2", "-m", "8G", "-nodefaults", "-display", "none",
		"-serial", "file:"+v.file("console.log"), "-device", "virtio-rng-pci",
		"-kernel", filepath.Join(built, "vmlinuz"), "-initrd", filepath.Join(built, "initrd.img"),
		"-append", "root=LABEL=root rw console=ttyS0 net.ifnames=0",
		"-smbios", "type=11,value=io.systemd.credential.binary:ssh.authorized_keys.root="+base64.StdEncoding.EncodeToString(key),
		"-drive", "if=virtio,file="+v.file("disk.qcow2"),
		"-drive", "if=virtio,format=raw,readonly=on,file="+v.file("download.img"),
		"-nic", fmt.Sprintf("user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:%d-:22", v.port)))
	v.wait(ctx)
	return v
}

// accelerator is qemu's way to run a virtual machine. KVM is many times faster than emulation, but
// fails in ways that qemu cannot detect on machines that are virtual themselves, so it must be asked
// for.
func accelerator() string {
	if name := os.Getenv("QEMU_ACCELERATOR"); name != "" {
		return name
	}
	return "tcg"
}

func (v *virtualMachine) file(name string) string { return filepath.Join(v.folder, name) }

// pack writes the disk with what a user downloads, and returns the size of the archive in bytes.
func (v *virtualMachine) pack(ctx context.Context) int64 {
	GinkgoHelper()
	archives, err := filepath.Glob(filepath.Join(bin, "archive/packages/foo-*-linux-amd64.tar.gz"))
	Expect(err).NotTo(HaveOccurred())
	Expect(archives).To(HaveLen(1))
	download := v.file("download")
	Expect(os.Mkdir(download, 0o755)).To(Succeed())
	for _, file := range []string{archives[0], filepath.Join(bin, "archive/packages/install.sh"), filepath.Join(bin, "archive/SHA256SUMS")} {
		v.host(ctx, "cp", "-al", file, download+"/")
	}
	v.host(ctx, "mke2fs", "-q", "-t", "ext4", "-L", "download", "-d", download, v.file("download.img"), "1G")
	Expect(os.RemoveAll(download)).To(Succeed())
	info, err := os.Stat(archives[0])
	Expect(err).NotTo(HaveOccurred())
	return info.Size()
}

// command returns a program of this machine.
func (v *virtualMachine) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	GinkgoHelper()
	path, err := exec.LookPath(program)
	Expect(err).NotTo(HaveOccurred(), "`make e2e LABELS=distribution` installs it")
	return exec.CommandContext(ctx, path, args...)
}

// host runs a program of this machine, which must succeed.
func (v *virtualMachine) host(ctx context.Context, program string, args ...string) {
	GinkgoHelper()
	output(v.command(ctx, program, args...))
}

// try runs a shell command as root, and returns what it prints.
func (v *virtualMachine) try(ctx context.Context, command string) (string, error) {
	ssh := v.command(ctx, "ssh", "-i", v.file("key"), "-p", strconv.Itoa(int(v.port)), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=30", "root@127.0.0.1", command)
	ssh.Cancel = func() error { return ssh.Process.Signal(syscall.SIGTERM) }
	said, err := ssh.CombinedOutput()
	return strings.TrimSpace(string(said)), err
}

// run runs a shell command that must succeed.
func (v *virtualMachine) run(ctx context.Context, command string) string {
	GinkgoHelper()
	said, err := v.try(ctx, command)
	Expect(err).NotTo(HaveOccurred(), "%s: %s", command, said)
	return said
}

// eventually repeats a shell command until it succeeds, and asserts what it then prints.
func (v *virtualMachine) eventually(ctx context.Context, command string) AsyncAssertion {
	GinkgoHelper()
	return Eventually(ctx, v.try).WithArguments(command).WithTimeout(emulated).WithPolling(5 * time.Second)
}

// wait returns once all services of the machine have started.
func (v *virtualMachine) wait(ctx context.Context) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) (string, error) {
		if v.qemu.ended() {
			return "", StopTrying("qemu ended: " + string(v.qemu.said.Contents()))
		}
		if console, err := os.ReadFile(v.file("console.log")); err == nil && bytes.Contains(console, []byte("Kernel panic")) {
			return "", StopTrying(string(console[max(0, len(console)-4096):]))
		}
		said, err := v.try(ctx, "systemctl is-system-running --wait; mountpoint /media")
		return said, err
	}).WithTimeout(emulated).WithPolling(5*time.Second).Should(HavePrefix("running"), "its console is in %s", v.file("console.log"))
}

// reboot restarts the machine as its user would. Each connection gets two minutes: when the machine
// goes down, one may hang, and ssh would not notice for many.
func (v *virtualMachine) reboot(ctx context.Context) {
	GinkgoHelper()
	try := func(ctx context.Context, command string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		return v.try(ctx, command)
	}
	const identity = "cat /proc/sys/kernel/random/boot_id"
	reboot := fmt.Sprintf("[ $(%s) != %s ] || { systemctl reboot; exit 1; }", identity, v.run(ctx, identity))
	Eventually(ctx, try).WithArguments(reboot).WithTimeout(emulated).WithPolling(5 * time.Second).Should(BeEmpty())
	v.wait(ctx)
}

// show adds what foo runs on the machine to the report of a story that fails.
func (v *virtualMachine) show(ctx context.Context) {
	for _, command := range []string{
		"uptime; free --mebi; ps --sort=-pcpu -eo pcpu,etime,args | head --lines=12 | cut --characters=-120",
		"tail --lines=20 /var/lib/foo/logs/*.log",
		". /var/lib/foo/env; export FOO_CLOUD_ENDPOINT FOO_CLOUD_TOKEN_FILE; foocloud instances; for name in $(foocloud instances --output=name); do " +
			"echo \"== $name\"; foocloud logs --tail=40 $name; foocloud logs --kubelet --tail=60 $name; done",
	} {
		said, err := v.try(ctx, command)
		AddReportEntry(command, ReportEntryVisibilityFailureOrVerbose, fmt.Sprintf("\n%s\n%v", said, err))
	}
}

// stop ends the machine as if its power failed.
func (v *virtualMachine) stop() {
	GinkgoHelper()
	if v.qemu != nil && !v.qemu.ended() {
		Expect(v.qemu.cmd.Process.Kill()).To(Succeed())
		Eventually(v.qemu.done).Should(BeClosed())
	}
	Expect(os.RemoveAll(v.folder)).To(Succeed())
}
