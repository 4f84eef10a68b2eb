// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// start returns a supervisor with its folder and a function that returns the events so far.
func start(t *testing.T) (*Supervisor, string, func() []Event) {
	t.Helper()
	dir := t.TempDir()
	var mu sync.Mutex
	var events []Event
	s := New(Options{LogDir: dir, PIDDir: dir, Notify: func(event Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, event)
	}})
	t.Cleanup(func() { _ = s.Stop() })
	return s, dir, func() []Event {
		mu.Lock()
		defer mu.Unlock()
		return append([]Event(nil), events...)
	}
}

func shell(name, script string) Process {
	return Process{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, StopTimeout: time.Minute}
}

// exists is ready once a file exists.
func exists(path string) func(context.Context) error {
	return func(context.Context) error { _, err := os.Stat(path); return err }
}

func pid(g Gomega, dir, name string) int {
	content, err := os.ReadFile(filepath.Join(dir, name+".pid"))
	g.Expect(err).NotTo(HaveOccurred())
	number, err := strconv.Atoi(strings.TrimSpace(string(content)))
	g.Expect(err).NotTo(HaveOccurred())
	return number
}

func TestStartWaitsUntilReady(t *testing.T) {
	g := NewWithT(t)
	s, dir, _ := start(t)
	process := shell("one", "echo hello; sleep 0.2; touch "+filepath.Join(dir, "ready")+"; exec sleep 60")
	process.Ready = exists(filepath.Join(dir, "ready"))
	g.Expect(s.Start(t.Context(), process)).To(Succeed())
	g.Expect(filepath.Join(dir, "ready")).To(BeAnExistingFile())
	g.Expect(LastLines(s.LogPath("one"), 5)).To(Equal([]string{"hello"}))
	running := pid(g, dir, "one")
	g.Expect(syscall.Getpgid(running)).To(Equal(running), "a process has its own group")
	g.Expect(s.Stop()).To(Succeed())
	g.Expect(filepath.Join(dir, "one.pid")).NotTo(BeAnExistingFile())
	g.Expect(syscall.Kill(running, 0)).To(MatchError(syscall.ESRCH))
}

func TestAProcessThatDiesBeforeItIsReadyIsStartedAgain(t *testing.T) {
	g := NewWithT(t)
	s, dir, events := start(t)
	runs, ready := filepath.Join(dir, "runs"), filepath.Join(dir, "ready")
	process := shell("one", "echo run >> "+runs+"; [ $(wc -l < "+runs+") -ge 3 ] || exit 3; touch "+ready+"; exec sleep 60")
	process.Ready = exists(ready)
	g.Expect(s.Start(t.Context(), process)).To(Succeed())
	g.Expect(LastLines(runs, 5)).To(HaveLen(3))
	g.Expect(events()).To(HaveLen(3))
	for _, died := range events()[:2] {
		g.Expect(died.Err).To(MatchError("one exited: exit status 3"))
		g.Expect(died.RestartIn).To(BeNumerically(">", 0))
	}
	g.Expect(events()[2]).To(Equal(Event{Name: "one"}), "it is running")
	running := pid(g, dir, "one")
	g.Expect(s.Stop()).To(Succeed())
	g.Expect(syscall.Kill(running, 0)).To(MatchError(syscall.ESRCH))
}

var errTimeIsUp = errors.New("time is up")

func TestAProcessThatKeepsDyingBeforeItIsReady(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	dir, deaths := t.TempDir(), 0
	s := New(Options{LogDir: dir, PIDDir: dir, Notify: func(Event) {
		if deaths++; deaths == 2 {
			cancel(errTimeIsUp)
		}
	}})
	t.Cleanup(func() { _ = s.Stop() })
	process := shell("one", "echo it is broken; exit 3")
	process.Ready = exists(filepath.Join(dir, "never"))
	err := s.Start(ctx, process)
	g.Expect(err).To(And(MatchError(errTimeIsUp), MatchError("one did not become ready: time is up: one exited: exit status 3")))
	g.Expect(deaths).To(Equal(2))
	log, ok := LogOf(err)
	g.Expect(ok).To(BeTrue())
	g.Expect(LastLines(log, 1)).To(Equal([]string{"it is broken"}))
	g.Expect(filepath.Join(dir, "one.pid")).NotTo(BeAnExistingFile())
}

// Its reason does not go away, so the user need not wait for the end of a long timeout.
func TestAProcessThatDiesAtOnceEachTime(t *testing.T) {
	g := NewWithT(t)
	s, dir, events := start(t)
	process := shell("one", "exit 3")
	process.Ready = exists(filepath.Join(dir, "never"))
	g.Expect(s.Start(t.Context(), process)).To(MatchError("one did not become ready: one exited: exit status 3"))
	g.Expect(events()).To(HaveLen(maxQuickDeaths - 1))
}

// A run that is still starting at the end says less than how the run before it died.
func TestAProcessThatDiesAndThenHangs(t *testing.T) {
	g := NewWithT(t)
	s, dir, events := start(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	process := shell("one", "[ ! -e "+first+" ] || { touch "+second+"; exec sleep 60; }; touch "+first+"; exit 3")
	process.Ready = func(ctx context.Context) error {
		if exists(second)(ctx) == nil {
			cancel(errTimeIsUp)
		}
		return errors.New("not yet")
	}
	err := s.Start(ctx, process)
	g.Expect(err).To(And(MatchError(errTimeIsUp), MatchError(ContainSubstring("one exited: exit status 3"))))
	g.Expect(events()).To(HaveLen(1))
}

func TestAProgramThatDoesNotExist(t *testing.T) {
	g := NewWithT(t)
	s, dir, events := start(t)
	err := s.Start(t.Context(), Process{Name: "one", Path: filepath.Join(dir, "missing")})
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(events()).To(BeEmpty(), "it is not tried again")
}

func TestAProcessThatTakesTooLong(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	s := New(Options{LogDir: dir, PIDDir: dir, ReadyTimeout: 200 * time.Millisecond, Notify: func(Event) {}})
	t.Cleanup(func() { _ = s.Stop() })
	process := shell("one", "exec sleep 60")
	process.Ready = func(context.Context) error { return errors.New("not yet") }
	err := s.Start(t.Context(), process)
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(err).To(MatchError(ContainSubstring("not yet")))
}

func TestADeadProcessIsStartedAgain(t *testing.T) {
	g := NewWithT(t)
	s, dir, events := start(t)
	g.Expect(s.Start(t.Context(), shell("one", "exec sleep 60"))).To(Succeed())
	first := pid(g, dir, "one")
	g.Expect(syscall.Kill(first, syscall.SIGKILL)).To(Succeed())
	g.Eventually(events).WithTimeout(time.Minute).Should(HaveLen(2), "it was not restarted")
	g.Expect(events()[0].Err).To(MatchError(ContainSubstring("killed")))
	g.Expect(events()[1].Err).NotTo(HaveOccurred())
	second := pid(g, dir, "one")
	g.Expect(second).NotTo(Equal(first))
	g.Expect(s.Stop()).To(Succeed())
	g.Expect(syscall.Kill(second, 0)).To(MatchError(syscall.ESRCH))
	g.Expect(events()).To(HaveLen(2), "a stopped process is not restarted")
}

// Somebody who kills or debugs the process by its ID would hit another one that has it by now.
func TestADeadProcessHasNoID(t *testing.T) {
	g := NewWithT(t)
	dir, file := t.TempDir(), make(chan error, 1)
	s := New(Options{LogDir: dir, PIDDir: dir, Notify: func(event Event) {
		if event.Err != nil {
			_, err := os.Stat(filepath.Join(dir, "one.pid"))
			file <- err
		}
	}})
	t.Cleanup(func() { _ = s.Stop() })
	g.Expect(s.Start(t.Context(), shell("one", "exec sleep 60"))).To(Succeed())
	g.Expect(syscall.Kill(pid(g, dir, "one"), syscall.SIGKILL)).To(Succeed())
	g.Eventually(file).WithTimeout(time.Minute).Should(Receive(MatchError(os.ErrNotExist)))
}

func TestStopGoesBackwardsAndKillsWhatDoesNotListen(t *testing.T) {
	g := NewWithT(t)
	s, dir, _ := start(t)
	order := filepath.Join(dir, "order")
	for _, name := range []string{"first", "second"} {
		process := shell(name, "trap 'echo "+name+" >> "+order+"; exit 0' TERM; touch "+filepath.Join(dir, name)+"; while :; do sleep 0.05; done")
		process.Ready = exists(filepath.Join(dir, name))
		g.Expect(s.Start(t.Context(), process)).To(Succeed())
	}
	deaf := shell("deaf", "trap '' TERM; touch "+filepath.Join(dir, "deaf")+"; while :; do sleep 0.05; done")
	deaf.Ready, deaf.StopTimeout = exists(filepath.Join(dir, "deaf")), 300*time.Millisecond
	g.Expect(s.Start(t.Context(), deaf)).To(Succeed())
	running := pid(g, dir, "deaf")
	g.Expect(s.Stop()).To(MatchError(ContainSubstring("deaf did not stop")))
	g.Expect(syscall.Kill(running, 0)).To(MatchError(syscall.ESRCH))
	g.Expect(LastLines(order, 5)).To(Equal([]string{"second", "first"}))
	g.Expect(s.Start(t.Context(), shell("late", "exit 0"))).To(MatchError(ContainSubstring("stopped")))
}

// A process that becomes ready at that moment is stopped, and one that does not is not waited for.
func TestStopDuringAStart(t *testing.T) {
	notYet := errors.New("not yet")
	for ready, want := range map[error]types.GomegaMatcher{nil: Succeed(), notYet: And(MatchError(errStopped), MatchError(notYet))} {
		t.Run(fmt.Sprint(ready), func(t *testing.T) {
			g := NewWithT(t)
			s, dir, _ := start(t)
			process, checked := shell("one", "exec sleep 60"), make(chan struct{})
			signal := sync.OnceFunc(func() { close(checked) })
			process.Ready = func(context.Context) error {
				signal()
				<-s.stopping.Done()
				return ready
			}
			started := make(chan error, 1)
			go func() { started <- s.Start(t.Context(), process) }()
			g.Eventually(checked).Should(BeClosed())
			running := pid(g, dir, "one")
			g.Expect(s.Stop()).To(Succeed())
			g.Expect(syscall.Kill(running, 0)).To(MatchError(syscall.ESRCH))
			g.Expect(<-started).To(want)
		})
	}
}

func TestProcessesGetACleanEnvironment(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("KUBECONFIG", "/somewhere")
	s, _, _ := start(t)
	process := shell("one", "env; exec sleep 60")
	process.Env = []string{"ASKED=for"}
	process.Ready = func(context.Context) error {
		lines, err := LastLines(s.LogPath("one"), 20)
		if err == nil && len(lines) < 3 {
			err = errors.New("nothing printed yet")
		}
		return err
	}
	g.Expect(s.Start(t.Context(), process)).To(Succeed())
	lines, err := LastLines(s.LogPath("one"), 20)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines).To(ContainElements("ASKED=for", HavePrefix("PATH=")))
	g.Expect(lines).NotTo(ContainElement(HavePrefix("KUBECONFIG=")))
}

func TestLastLinesOfALongLog(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "log")
	g.Expect(os.WriteFile(path, []byte(strings.Repeat("some line that repeats\n", 5000)+"the end\n"), 0o600)).To(Succeed())
	g.Expect(LastLines(path, 2)).To(Equal([]string{"some line that repeats", "the end"}))
	_, err := LastLines(path+".missing", 2)
	g.Expect(err).To(MatchError(os.ErrNotExist))
}
