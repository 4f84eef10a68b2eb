//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

var _ = Describe("exec", func() {
	It("runs commands like the instance's own processes, and passes on their streams and exit codes", func(ctx SpecContext) {
		GinkgoT().Setenv("TMPDIR", GinkgoT().TempDir())
		d := newDaemon()
		made := d.boot(ctx, "default.one", "")
		first := d.firstProcess(made.ID)
		inside := func(command ...string) string {
			GinkgoHelper()
			return d.run(append([]string{"instance", "exec", "--no-input", "one"}, command...)...)
		}
		Expect(inside("hostname")).To(Equal("default.one\n"))
		for _, namespace := range []string{"pid", "net", "mnt", "uts", "ipc", "cgroup"} {
			target, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", first, namespace))
			Expect(err).NotTo(HaveOccurred())
			Expect(inside("readlink", "/proc/self/ns/"+namespace)).To(Equal(target+"\n"), namespace)
		}
		for _, right := range []string{"CapBnd", "CapEff", "Seccomp"} {
			Expect(inside("grep", right+":", "/proc/self/status")).To(Equal(inside("grep", right+":", "/proc/1/status")))
		}
		Expect(inside("cat", "/proc/self/cgroup")).To(Equal(inside("cat", "/proc/1/cgroup")), "it has the instance's limits")

		shell := exec.Command(programs.foocloud, "instance", "shell", made.ID[:len(made.ID)-1])
		shell.Env = append(os.Environ(), "FOO_CLOUD_ENDPOINT="+d.endpoint(), "FOO_CLOUD_TOKEN_FILE="+filepath.Join(d.state, "token"))
		shell.Stdin = strings.NewReader("pwd; echo problem >&2; exit 7\n")
		var out, errOut bytes.Buffer
		shell.Stdout, shell.Stderr = &out, &errOut
		var exit *exec.ExitError
		Expect(errors.As(shell.Run(), &exit)).To(BeTrue())
		Expect(exit.ExitCode()).To(Equal(7))
		Expect(out.String()).To(Equal("/root\n"))
		Expect(errOut.String()).To(Equal("problem\n"))

		data := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		out.Reset()
		Expect(d.client.Exec(ctx, made.ID, client.ExecOptions{Command: []string{"cat"}, Stdin: bytes.NewReader(data), Stdout: &out})).To(Succeed())
		Expect(bytes.Equal(out.Bytes(), data)).To(BeTrue(), "much data arrives as it was sent")

		err := d.client.Exec(ctx, made.ID, client.ExecOptions{Command: []string{"no-such-program"}, Stdout: io.Discard})
		Expect(err).To(MatchError(ContainSubstring("no-such-program")))
		var code utilexec.ExitError
		Expect(errors.As(err, &code)).To(BeFalse(), "%v", err)
		err = d.client.Exec(ctx, made.ID, client.ExecOptions{Command: []string{"sh", "-c", "kill -9 $$"}, Stdout: io.Discard})
		Expect(errors.As(err, &code)).To(BeTrue(), "%v", err)
		Expect(code.ExitStatus()).To(Equal(128 + 9))
		Expect(filepath.Glob(filepath.Join(os.TempDir(), "foocloud-exec-*"))).To(BeEmpty())
	}, NodeTimeout(soon))

	It("gives a command a terminal, and ends it when the caller goes", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
		running, hangUp := context.WithCancel(ctx)
		screen, ended := gbytes.NewBuffer(), make(chan error, 1)
		sizes := make(terminalSizes, 2)
		sizes <- remotecommand.TerminalSize{Width: 81, Height: 23}
		keyboard, keys := io.Pipe()
		go func() {
			ended <- d.client.Exec(running, made.ID, client.ExecOptions{
				Command: []string{"sh"}, Stdin: keyboard, Stdout: screen, Terminal: true, Sizes: sizes,
			})
		}()
		write := func(line string) {
			GinkgoHelper()
			_, err := io.WriteString(keys, line+"\n")
			Expect(err).NotTo(HaveOccurred())
		}
		write("tty; stty size")
		Eventually(screen, soon).Should(gbytes.Say(`/dev/pts/\d+`))
		Eventually(screen, soon).Should(gbytes.Say("23 81"))
		write("sleep 100017")
		Eventually(sleepers, soon).Should(Equal(1))
		hangUp()
		Eventually(ended, soon).Should(Receive())
		Eventually(sleepers, soon).Should(BeZero(), "it ends with the caller's connection")

		running, hangUp = context.WithCancel(ctx)
		go func() {
			ended <- d.client.Exec(running, made.ID, client.ExecOptions{Command: []string{"sh", "-c", "sleep 100017; true"}, Stdout: screen})
		}()
		Eventually(sleepers, soon).Should(Equal(1))
		hangUp()
		Eventually(sleepers, soon).Should(BeZero(), "without a terminal, too")
	}, NodeTimeout(soon))

	It("needs no reader of a terminal, and refuses a command in a frozen instance", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
		err := d.client.Exec(ctx, made.ID, client.ExecOptions{Command: []string{"sh"}, Stdin: strings.NewReader("exit 7\n"), Terminal: true})
		var code utilexec.ExitError
		Expect(errors.As(err, &code)).To(BeTrue(), "%v", err)
		Expect(code.ExitStatus()).To(Equal(7))

		leaving, leave := context.WithCancel(ctx)
		full := make(chan error, 1)
		go func() {
			full <- d.client.Exec(leaving, made.ID, client.ExecOptions{Command: []string{"sleep", "100017"}, Stdin: zeros{}})
		}()
		Eventually(sleepers, soon).Should(Equal(1))
		leave()
		Eventually(full, soon).Should(Receive(MatchError(context.Canceled)), "however much input is on its way")

		run := func() error {
			return d.client.Exec(ctx, made.ID, client.ExecOptions{Command: []string{"true"}, Stdout: io.Discard})
		}
		d.run("instance", "freeze", "one")
		Eventually(run, soon).Should(MatchError(ContainSubstring("frozen")))
		d.run("instance", "thaw", "one")
		Eventually(run, soon).Should(Succeed())
	}, NodeTimeout(soon))

	It("lets an instance end in which a runtime that failed has left processes", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		runtime, first := filepath.Join(folder, "runtime"), filepath.Join(folder, "first")
		Expect(os.WriteFile(runtime, fmt.Appendf(nil, leavingRuntime, first), 0o700)).To(Succeed())
		d := newDaemon("--runtime=" + runtime)
		made := d.boot(ctx, "one", "")
		pid := d.firstProcess(made.ID)
		Expect(os.WriteFile(first, fmt.Append(nil, pid), 0o600)).To(Succeed())
		run := func(command ...string) error {
			return d.client.Exec(ctx, made.ID, client.ExecOptions{Command: command, Stdout: io.Discard})
		}
		Expect(run("no-such-program")).To(MatchError(ContainSubstring("exit status 4")))
		Eventually(sleepers, soon).Should(Equal(1))
		Eventually(func() []string { return zombies(d.cmd.Process.Pid) }, soon).Should(BeEmpty())

		failing, stop := context.WithCancel(ctx)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			for failing.Err() == nil {
				_ = run("no-such-program")
			}
		}()
		for range 30 {
			Expect(run("true")).To(Succeed(), "nothing else reaps a command")
		}
		stop()
		<-stopped
		Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
		d.awaitState(ctx, made.ID, cloud.InstanceStopped)
		Eventually(sleepers, soon).Should(BeZero())
	}, NodeTimeout(soon))

	It("shows the end of a log, and what is added", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "echo first; echo time=2026-01-01T00:00:00Z old; echo time=2999-01-01T00:00:00Z late")
		d.log(made.ID, scriptEnded)
		Expect(d.run("instance", "logs", "--tail=1", "one")).To(Equal(scriptEnded + "\n"))
		Expect(d.run("instance", "logs", "--since=1h", "one")).To(Equal("time=2999-01-01T00:00:00Z late\n" + scriptEnded + "\n"))
		command := exec.CommandContext(ctx, programs.foocloud, "instance", "logs", "-f", "--tail=0", "one")
		command.Env = append(os.Environ(), "FOO_CLOUD_ENDPOINT="+d.endpoint(), "FOO_CLOUD_TOKEN_FILE="+filepath.Join(d.state, "token"))
		log := gbytes.NewBuffer()
		command.Stdout = log
		Expect(command.Start()).To(Succeed())
		Eventually(func() []byte {
			d.run("instance", "exec", "-n", "one", "--", "sh", "-c", "echo added > /proc/1/fd/1")
			return log.Contents()
		}, soon).Should(ContainSubstring("added\n"))
		Expect(log.Contents()).NotTo(ContainSubstring("first"))
		Expect(command.Process.Signal(os.Interrupt)).To(Succeed())
		Expect(command.Wait()).To(Succeed(), "to stop following is no error")
	}, NodeTimeout(soon))
})

// leavingRuntime leaves two processes in the PID namespace of an instance if there is no such program,
// one of which ends at once. crun leaves one.
const leavingRuntime = `#!/bin/sh
if grep -qs no-such-program -- "$@"; then
	exec nsenter --no-fork --target "$(cat %s)" --pid sh -c 'true & sleep 100017 & exit 4'
fi
exec runc "$@"
`

// zombies returns the children of a process that have ended and that it has not reaped.
func zombies(parent int) (found []string) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	Expect(err).NotTo(HaveOccurred())
	for _, thread := range threads {
		for _, child := range strings.Fields(readFile(thread)) {
			if strings.Contains(readFile("/proc/"+child+"/stat"), ") Z ") {
				found = append(found, child)
			}
		}
	}
	return found
}

// terminalSizes delivers the sizes of a terminal.
type terminalSizes chan remotecommand.TerminalSize

// Next implements remotecommand.TerminalSizeQueue.
func (s terminalSizes) Next() *remotecommand.TerminalSize {
	next, ok := <-s
	if !ok {
		return nil
	}
	return &next
}

// sleepers counts the processes that the stories start to be killed.
func sleepers() (count int) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		if line := readFile(file); strings.HasPrefix(line, "sleep\x00100017") {
			count++
		}
	}
	return count
}

// zeros is input without end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(buffer []byte) (int, error) {
	clear(buffer)
	return len(buffer), nil
}
