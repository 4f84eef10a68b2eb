//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/creack/pty"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"golang.org/x/sys/unix"
)

// terminal is a pseudoterminal, as a user's terminal emulator makes it.
type terminal struct {
	// user is the side of the user, program the side of the program.
	user, program *os.File
	screen        *gbytes.Buffer
}

func newTerminal() *terminal {
	GinkgoHelper()
	user, program, err := pty.Open()
	Expect(err).NotTo(HaveOccurred())
	t := &terminal{user: user, program: program, screen: gbytes.NewBuffer()}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(t.screen, user) // it ends with an error when the program's side is closed
	}()
	DeferCleanup(func() {
		Expect(program.Close()).To(Succeed())
		Eventually(shown, soon).Should(BeClosed())
		Expect(user.Close()).To(Succeed())
	})
	return t
}

func (t *terminal) resize(rows, columns uint16) {
	GinkgoHelper()
	Expect(pty.Setsize(t.user, &pty.Winsize{Rows: rows, Cols: columns})).To(Succeed())
}

func (t *terminal) settings() unix.Termios {
	GinkgoHelper()
	settings, err := unix.IoctlGetTermios(int(t.program.Fd()), unix.TCGETS)
	Expect(err).NotTo(HaveOccurred())
	return *settings
}

func (t *terminal) press(keys string) {
	GinkgoHelper()
	_, err := io.WriteString(t.user, keys)
	Expect(err).NotTo(HaveOccurred())
}

// shell starts foocloud in the terminal, with a shell in the instance.
func (t *terminal) shell(d *daemon, instance string) *exec.Cmd {
	GinkgoHelper()
	shell := exec.Command(programs.foocloud, "instance", "shell", instance)
	shell.Env = append(os.Environ(), "FOO_CLOUD_ENDPOINT="+d.endpoint(), "FOO_CLOUD_TOKEN_FILE="+filepath.Join(d.state, "token"))
	shell.Stdin, shell.Stdout, shell.Stderr = t.program, t.program, t.program
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	Expect(shell.Start()).To(Succeed())
	return shell
}

var _ = Describe("a shell in a terminal", func() {
	It("follows its size, passes Ctrl-C on, and leaves it as it was", func(ctx SpecContext) {
		d := newDaemon()
		d.boot(ctx, "one", "")
		t := newTerminal()
		before := t.settings()
		t.resize(23, 81)
		shell := t.shell(d, "one")

		// The shell may start before its terminal has its size.
		size := func() *gbytes.Buffer {
			t.press("stty size\n")
			return t.screen
		}
		Eventually(size, soon).Should(gbytes.Say("23 81"))
		Expect(t.settings().Lflag&unix.ICANON).To(BeZero(), "the instance's terminal edits lines")
		t.resize(40, 132)
		Eventually(size, soon).Should(gbytes.Say("40 132"))

		t.press("sleep 100017\n")
		Eventually(sleepers, soon).Should(Equal(1))
		t.press("\x03")
		Eventually(sleepers, soon).Should(BeZero())
		t.press("echo still $((40 + 2))\n")
		Eventually(t.screen, soon).Should(gbytes.Say("still 42"))

		t.press("exit 7\n")
		Expect(shell.Wait()).To(MatchError("exit status 7"))
		Expect(t.settings()).To(Equal(before))

		shell = t.shell(d, "one")
		t.press("echo again $((40 + 2))\n")
		Eventually(t.screen, soon).Should(gbytes.Say("again 42"))
		Expect(shell.Process.Signal(unix.SIGTERM)).To(Succeed())
		Expect(shell.Wait()).To(MatchError("exit status 130"))
		Expect(t.settings()).To(Equal(before), "however it ends")
	}, NodeTimeout(2*soon))
})
