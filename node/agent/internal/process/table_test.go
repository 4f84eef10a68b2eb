// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process/processtest"
)

func start(t *testing.T, table *process.Table, script string) *process.Process {
	t.Helper()
	proc, err := table.Start(process.Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return proc
}

func wait(t *testing.T, proc *process.Process) process.Exit {
	t.Helper()
	select {
	case <-proc.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the process did not end within 10 s")
	}
	return proc.Exit()
}

func TestTimerSlackIsInherited(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	table := processtest.NewTable(t)
	proc, err := table.Start(process.Spec{Path: "/bin/sh", Args: []string{"sh", "-c", "cat /proc/self/timerslack_ns"}, Env: os.Environ(), Stdout: write})
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	wait(t, proc)
	got, err := io.ReadAll(read)
	if want := fmt.Sprintln((2 * time.Millisecond).Nanoseconds()); err != nil || string(got) != want {
		t.Errorf("the child of a child has the slack %q, %v, want %q", got, err, want)
	}
}

func TestExitIsThatOfTheProcess(t *testing.T) {
	table := processtest.NewTable(t)
	cases := map[string]process.Exit{
		"exit 0":      {},
		"exit 7":      {Code: 7},
		"kill -9 $$":  {Code: 137, Signal: syscall.SIGKILL},
		"kill -15 $$": {Code: 143, Signal: syscall.SIGTERM},
	}
	for script, want := range cases {
		if got := wait(t, start(t, table, script)); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}

func TestManyProcessesAreEachToldOf(t *testing.T) {
	table := processtest.NewTable(t)
	var all []*process.Process
	for range 50 {
		all = append(all, start(t, table, "exit 3"))
	}
	for _, proc := range all {
		if exit := wait(t, proc); exit.Code != 3 {
			t.Errorf("exit is %s", exit)
		}
	}
}

func TestStopKillsWhatDoesNotHeed(t *testing.T) {
	table := processtest.NewTable(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	proc, err := table.Start(process.Spec{
		Path:   "/bin/sh",
		Args:   []string{"sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.01; done"},
		Env:    os.Environ(),
		Stdout: write,
	})
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	proc.Stop(context.Background(), syscall.SIGTERM, 50*time.Millisecond)
	if exit := proc.Exit(); exit.Signal != syscall.SIGKILL {
		t.Errorf("ended with %s", exit)
	}
	proc.Signal(syscall.SIGTERM) // to a process that has ended: no effect
}

func TestSignalReachesTheGroupUnlessAlone(t *testing.T) {
	// The shell in the background prints its process ID once it is ready, and then the first signal
	// it gets.
	const script = `sh -c 'trap "echo told; exit" TERM; trap "echo left; exit" USR1; echo $$; while :; do sleep 0.01; done' & wait`
	table := processtest.NewTable(t)
	for alone, want := range map[bool]string{false: "told", true: "left"} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		proc, err := table.Start(process.Spec{
			Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ(), Stdout: write, Alone: alone,
		})
		_ = write.Close()
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		var first string
		if _, err := fmt.Fscan(read, &pid); err != nil {
			t.Fatal(err)
		}
		proc.Stop(context.Background(), syscall.SIGTERM, 10*time.Second)
		if alone {
			_ = syscall.Kill(pid, syscall.SIGUSR1)
		}
		if _, err := fmt.Fscan(read, &first); err != nil || first != want {
			t.Errorf("alone is %t: the rest of the group says %q (%v), want %q", alone, first, err, want)
		}
		_ = read.Close()
	}
}

func TestStartNamesTheProgramThatIsMissing(t *testing.T) {
	_, err := process.NewTable().Start(process.Spec{Path: "/no/such/program", Args: []string{"x"}})
	if err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("error is %v", err)
	}
}

func TestKillAllIsOnlyForTheFirstProcess(t *testing.T) {
	if err := process.NewTable().KillAll(time.Second); err == nil {
		t.Error("a process that is not the first may end all others")
	}
}
