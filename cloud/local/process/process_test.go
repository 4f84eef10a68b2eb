// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// soon is how long a signal may take to have an effect on a busy machine.
const soon = 10 * time.Second

func TestParseStat(t *testing.T) {
	g := NewWithT(t)
	parsed, err := parseStat([]byte("12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parsed).To(Equal(stat{state: 'S', startTime: 4711}))
	for _, text := range []string{"", "12 a S", "12 (a) S 1 2", "12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"} {
		_, err := parseStat([]byte(text))
		g.Expect(err).To(HaveOccurred(), text)
	}
}

func start(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(arguments[0], arguments[1:]...)
	NewWithT(t).Expect(cmd.Start()).To(Succeed())
	return cmd
}

func TestEndOfChildIsAnEvent(t *testing.T) {
	g := NewWithT(t)
	handle, err := Started(start(t, "sleep", "1000"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Consistently(handle.Done(), "50ms").ShouldNot(BeClosed())
	g.Expect(handle.Identity().Alive()).To(BeTrue(), "it sleeps")
	g.Expect(handle.Stop(context.Background(), soon)).To(Succeed())
	g.Expect(handle.Done()).To(BeClosed())
	g.Expect(handle.Exit()).To(Equal("signal: terminated"))
	g.Expect(handle.Identity().Alive()).To(BeFalse(), "it has ended")
	g.Expect(handle.Stop(context.Background(), soon)).To(Succeed(), "one that is gone can be stopped")
}

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	g := NewWithT(t)
	cmd := exec.Command("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done")
	output, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	_, err = io.ReadFull(output, make([]byte, len("deaf")))
	g.Expect(err).NotTo(HaveOccurred())
	handle, err := Started(cmd)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(handle.Stop(context.Background(), 200*time.Millisecond)).To(Succeed())
	g.Expect(handle.Exit()).To(Equal("signal: killed"))
}

func TestFind(t *testing.T) {
	g := NewWithT(t)
	cmd := start(t, "sleep", "1000")
	id, err := Identify(cmd.Process.Pid)
	g.Expect(err).NotTo(HaveOccurred())
	found, err := Find(id)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Process.Kill()).To(Succeed())
	g.Eventually(found.Done(), soon).Should(BeClosed(), "the end of a process that another program started is seen")
	// A zombie still has its PID, but does not run.
	_, err = Find(id)
	g.Expect(errors.Is(err, ErrGone)).To(BeTrue(), "%v", err)
	g.Expect(cmd.Wait()).NotTo(Succeed())
}

func TestExitOfAProcessThatIsNoChild(t *testing.T) {
	for how, want := range map[string]string{"kill -9 $$": "signal: killed", "exit 3": "exit status 3"} {
		t.Run(want, func(t *testing.T) {
			g := NewWithT(t)
			// The shell ends immediately, and its background process becomes a child of the host's
			// first process.
			gate := filepath.Join(t.TempDir(), "gate")
			g.Expect(syscall.Mkfifo(gate, 0o600)).To(Succeed())
			script := "(read line <" + gate + "; exec sh -c '" + how + "') >/dev/null 2>&1 & echo $!"
			output, err := exec.Command("sh", "-c", script).Output()
			g.Expect(err).NotTo(HaveOccurred())
			pid, err := strconv.Atoi(strings.TrimSpace(string(output)))
			g.Expect(err).NotTo(HaveOccurred())
			id, err := Identify(pid)
			g.Expect(err).NotTo(HaveOccurred())
			found, err := Find(id)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(gate, []byte("go\n"), 0o600)).To(Succeed())
			g.Eventually(found.Done(), soon).Should(BeClosed(), "its end is an event")
			g.Expect(found.Exit()).To(Or(Equal(want), Equal(unknownExit)))
			if kernelTellsExits(t) {
				g.Expect(found.Exit()).To(Equal(want))
			}
		})
	}
}

// kernelTellsExits reports whether this is Linux 6.15 or newer.
func kernelTellsExits(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var major, minor int
	_, err = fmt.Sscanf(string(text), "%d.%d", &major, &minor)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return major > 6 || (major == 6 && minor >= 15)
}

func TestWhatCanNotBeLookedAtIsNotGone(t *testing.T) {
	g := NewWithT(t)
	own, err := Identify(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	var limit unix.Rlimit
	g.Expect(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)).To(Succeed())
	g.Expect(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max})).To(Succeed())
	_, aliveErr := own.Alive()
	_, findErr := Find(own)
	g.Expect(unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)).To(Succeed())
	for _, err := range []error{aliveErr, findErr} {
		g.Expect(err).To(MatchError(unix.EMFILE))
		g.Expect(err).NotTo(MatchError(ErrGone))
	}
}

func TestFindIsNotMistaken(t *testing.T) {
	g := NewWithT(t)
	own, err := Identify(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(own.SameBoot()).To(BeTrue())
	other, rebooted := own, own
	other.StartTime++
	rebooted.BootID = "another"
	for _, id := range []Identity{other, rebooted} {
		_, err := Find(id)
		g.Expect(errors.Is(err, ErrGone)).To(BeTrue(), "%v", err)
	}
	g.Expect(rebooted.SameBoot()).To(BeFalse())
}
