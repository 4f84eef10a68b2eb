//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// machine is a mount namespace that looks like another machine. An idle process keeps it alive.
type machine struct {
	folder string
	pid    int
}

// newMachine runs a script in a new mount namespace, in a tmpfs that exists only there. The
// namespace and all its mounts disappear when the spec ends.
func newMachine(script string) *machine {
	GinkgoHelper()
	folder, err := os.MkdirTemp("", "foo-hosttest-machine-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, folder)
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-ec",
		"mount -t tmpfs tmpfs "+folder+"; cd "+folder+"; "+script+"; echo ready; exec sleep infinity")
	problems := &bytes.Buffer{}
	cmd.Stderr = problems
	output, err := cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(cmd.Start()).To(Succeed())
	DeferCleanup(func() {
		Expect(cmd.Process.Kill()).To(Succeed())
		// Wait returns an error for a killed process, which is expected here.
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	Expect(err).NotTo(HaveOccurred(), problems.String())
	Expect(line).To(Equal("ready\n"))
	return &machine{folder: folder, pid: cmd.Process.Pid}
}

// command returns a command that runs inside the machine.
func (m *machine) command(program string, arguments ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--mount", "--target", strconv.Itoa(m.pid), program}, arguments...)...)
}

// path returns the path on the host of a path in the machine.
func (m *machine) path(inside string) string { return fmt.Sprintf("/proc/%d/root%s", m.pid, inside) }

// serve starts a daemon in the machine and returns its client. The daemon and everything it created
// are removed when the spec ends.
func (m *machine) serve(d *daemon, output *bytes.Buffer) *client.Client {
	GinkgoHelper()
	d.state = filepath.Join(m.folder, "state")
	cmd := m.command(programs.foocloud, d.command().Args[1:]...)
	cmd.Stderr = output
	Expect(cmd.Start()).To(Succeed())
	DeferCleanup(func() {
		Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
		_ = cmd.Wait()
		text, err := m.command(programs.foocloud, "destroy", "--yes", "--state-dir", d.state).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(text))
	})
	state := m.path(d.state)
	c, err := client.NewClient(client.Options{
		Endpoint: "unix://" + filepath.Join(state, "foocloud.sock"), TokenFile: filepath.Join(state, "token"),
	})
	Expect(err).NotTo(HaveOccurred())
	Eventually(c.Healthy, soon).WithContext(context.Background()).Should(Succeed(), func() string {
		return "the daemon serves soon after it starts: " + output.String()
	})
	return c
}

const (
	// withoutOverlay hides overlayfs from programs that ask the kernel for its file systems.
	withoutOverlay = "grep -v overlay /proc/filesystems >filesystems; mount --bind filesystems /proc/filesystems; mkdir state"
	// overlay mounts an overlay on a folder in the machine's own folder.
	overlay = "mkdir %[1]s %[1]s-upper %[1]s-work; mount -t overlay overlay %[1]s -o lowerdir=%[2]s,upperdir=%[1]s-upper,workdir=%[1]s-work; "
	// newRoot makes the folder root the machine's root, including the kernel's folders and the
	// machine's own folder.
	newRoot = "for f in proc sys dev run; do mount --rbind /$f root/$f; done; mount --bind . root$PWD; cd root; pivot_root . .; umount -l .; cd /; "
)

// stacked returns a script for a machine whose root is an overlay on top of the given number of
// other overlays.
func stacked(others int) string {
	script, lower := "", "/"
	for i := range others {
		script += fmt.Sprintf(overlay, fmt.Sprintf("below%d", i), lower)
		lower = fmt.Sprintf("below%d", i)
	}
	return script + fmt.Sprintf(overlay, "root", lower) + "mkdir state; " + strings.TrimSuffix(newRoot, "; ")
}

var _ = Describe("the copy-on-write root", func() {
	serveOn := func(m *machine) *exec.Cmd {
		d := prepare()
		d.state = filepath.Join(m.folder, "state")
		return m.command(programs.foocloud, d.command().Args[1:]...)
	}

	It("needs overlayfs, and says so before anything is made", func() {
		m := newMachine(withoutOverlay)
		said := And(ContainSubstring("the kernel has none"), ContainSubstring("modprobe overlay"), ContainSubstring("CONFIG_OVERLAY_FS"))
		Expect(refusal(serveOn(m))).To(said)
		Expect(refusal(m.command(programs.foocloud, "check", "--state-dir", filepath.Join(m.folder, "state"), "--system-dir", programs.system))).To(said)
		entries, err := os.ReadDir(m.path(filepath.Join(m.folder, "state")))
		Expect(err).NotTo(HaveOccurred())
		Expect(entries).To(BeEmpty())
	})

	It("cannot lie over two overlays, and says what is allowed", func() {
		Expect(refusal(serveOn(newMachine(stacked(1))))).To(And(
			ContainSubstring("on overlayfs and the state folder"), ContainSubstring("on tmpfs"),
			ContainSubstring("the system not on an overlay over another overlay"), ContainSubstring("ext4, xfs, btrfs or tmpfs")))
	})

	It("needs the permission to mount", func() {
		m := newMachine("mkdir state")
		cmd := m.command("setpriv", append([]string{"--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"}, serveOn(m).Args[4:]...)...)
		Expect(refusal(cmd)).To(And(ContainSubstring("does not permit"), ContainSubstring("CAP_SYS_ADMIN")))
	})

	DescribeTable("works", func(ctx SpecContext, script, note string) {
		m := newMachine(script)
		d, output := prepare(), &bytes.Buffer{}
		d.client = m.serve(d, output)
		made := d.boot(ctx, "one", "echo changed >/etc/hostname; rm /usr/bin/env; echo kept >/var/lib/etcd/data")
		Expect(made.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}))
		Expect(m.path("/usr/bin/env")).To(BeAnExistingFile(), "what the instance deletes stays on the machine")
		if note == "" {
			Expect(output.String()).NotTo(ContainSubstring("keep changes to their root in memory"))
		} else {
			Expect(output.String()).To(ContainSubstring(note))
		}
	},
		Entry("over a root that is an overlay, with the state folder on tmpfs", stacked(0), ""),
		Entry("with the state folder on an overlay, in memory", "mkdir lower; "+strings.TrimSuffix(fmt.Sprintf(overlay, "state", "lower"), "; "), "keep changes to their root in memory"),
	)
})
