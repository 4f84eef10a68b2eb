// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/thread"
)

// spending ends threads whenever a goroutine asks for the end of the context. With one processor, the
// goroutine's own is among them, unless it is locked.
type spending struct{ context.Context }

func (s spending) Done() <-chan struct{} {
	for range 20 {
		_ = thread.Spend(func() error { return nil })
	}
	return s.Context.Done()
}

// Tests never run on the main thread, which cannot end.
func init() { runtime.LockOSThread() }

func TestAThreadThatEndsKillsNoCommand(t *testing.T) {
	g := NewWithT(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	folder := t.TempDir()
	program := filepath.Join(folder, "runtime")
	// What is started asks once more for the end of its context while the runtime runs.
	g.Expect(os.WriteFile(program, []byte("#!/bin/sh\nsleep 0.2\necho 7 > "+filepath.Join(folder, pidFile)+"\n"), 0o700)).To(Succeed())
	c := containers{program: program, state: filepath.Join(folder, "containers")}
	g.Expect(c.exec(spending{t.Context()}, "one", folder, &session{})).To(Equal(7))
}

// goingRuntime starts a command, notes its process ID, and does not return before the caller has
// gone.
const goingRuntime = `#!/bin/sh
setsid sh -c 'echo $$ > pid; mv pid started; exec sleep 100018' &
echo $! > "${12}"
until [ -e gone ]; do sleep 0.01; done
`

func TestACallerThatGoesAsTheCommandStartsLeavesNoCommand(t *testing.T) {
	g := NewWithT(t)
	g.Expect(process.Adopt()).To(Succeed())
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	d := &Driver{options: Options{StateDir: folder}, commands: newCommands(), containers: containers{
		program: filepath.Join(folder, "runtime"), state: filepath.Join(folder, "containers"),
	}}
	d.reports, err = newReports()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(d.containers.program, []byte(goingRuntime), 0o700)).To(Succeed())
	g.Expect(os.MkdirAll(d.folder("one"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(d.folder("one"), bundleFile), []byte(`{"process": {"cwd": "/"}}`), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(d.folder("one"), pidFile), []byte("1"), 0o600)).To(Succeed())

	ctx, goes := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.Exec(ctx, "one", engine.Exec{Command: []string{"sleep"}})
		ended <- err
	}()
	started := filepath.Join(folder, "started")
	g.Eventually(started, soon).Should(BeAnExistingFile())
	goes()
	closed := make(chan error, 1)
	go func() { closed <- d.Close() }()
	g.Consistently(closed).ShouldNot(Receive(), "the daemon does not end before it has killed the command")
	g.Expect(os.WriteFile(filepath.Join(folder, "gone"), nil, 0o600)).To(Succeed())
	g.Eventually(ended, soon).Should(Receive(MatchError(context.Canceled)))
	g.Eventually(closed, soon).Should(Receive(Succeed()))
	pid, err := readPID(started)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(unix.Kill(pid, 0)).To(MatchError(unix.ESRCH), "nothing is left of the command")

	_, err = d.Exec(ctx, "one", engine.Exec{Command: []string{"sleep"}})
	g.Expect(err).To(MatchError(context.Canceled), "no command starts for a caller who has gone before")
	g.Expect(readPID(started)).To(Equal(pid))
}

func TestATerminalNeedsNoReader(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	s, err := newSession(folder, engine.Exec{Terminal: true})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.close)
	runtime, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(folder, consoleSocket), Net: "unix"})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = runtime.Close() })
	terminal, command, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = runtime.WriteMsgUnix([]byte("terminal"), unix.UnixRights(int(terminal.Fd())), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(terminal.Close()).To(Succeed())

	g.Expect(s.start()).To(Succeed())
	g.Expect(io.WriteString(command, "# ")).To(Equal(2))
	g.Expect(command.Close()).To(Succeed())
	g.Eventually(s.copied, soon).Should(BeClosed())
}
