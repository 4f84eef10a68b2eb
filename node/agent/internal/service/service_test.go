// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// helperEnv makes the test binary act as a service's program, which reports that it is ready and
// then runs forever.
const helperEnv = "FOO_TEST_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) == "" {
		os.Exit(m.Run())
	}
	conn, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
	if err == nil {
		_, err = conn.Write([]byte("STATUS=up\nREADY=1\n"))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

// fixture is a service whose processes a test can see.
type fixture struct {
	*Service
	table   *process.Table
	folder  string
	started chan *process.Process
}

// starter starts a process and records it.
func (f *fixture) starter(spec process.Spec) (*process.Process, error) {
	proc, err := f.table.Start(spec)
	if err == nil {
		f.started <- proc
	}
	return proc, err
}

type starter func(spec process.Spec) (*process.Process, error)

func (s starter) Start(spec process.Spec) (*process.Process, error) { return s(spec) }

func newFixture(t *testing.T, change func(config *Config)) *fixture {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	reaped := make(chan struct{})
	f := &fixture{table: process.NewTable(), folder: t.TempDir(), started: make(chan *process.Process, 100)}
	go func() {
		defer close(reaped)
		f.table.Reap(ctx)
	}()
	config := Config{
		Name:    "helper",
		Program: self,
		Args:    func() ([]string, error) { return []string{"arg"}, nil },
		Env:     []string{helperEnv + "=1"},
		LogPath: filepath.Join(f.folder, "log/helper.log"),
		Folder:  f.folder,
		Starter: starter(f.starter),
		Log:     slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&config)
	}
	if f.Service, err = New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		cancel()
		<-reaped
	})
	return f
}

func (f *fixture) expect(t *testing.T, want State) {
	t.Helper()
	if got, _ := f.Active(); got != string(want) {
		t.Errorf("the service is %s, want %s", got, want)
	}
}

// next returns the process that is started next.
func (f *fixture) next(t *testing.T) *process.Process {
	t.Helper()
	select {
	case proc := <-f.started:
		return proc
	case <-time.After(10 * time.Second):
		t.Fatal("no process was started within 10 s")
		return nil
	}
}

func TestStartReturnsWhenTheProgramIsReady(t *testing.T) {
	f := newFixture(t, nil)
	f.expect(t, Inactive)
	f.Start(t.Context())
	f.expect(t, Active)
	proc := f.next(t)
	f.Stop()
	f.expect(t, Inactive)
	if exit := proc.Exit(); exit.Signal != syscall.SIGTERM {
		t.Errorf("the program ended with %s", exit)
	}
	f.Start(t.Context())
	f.expect(t, Active)
	f.Close()
	f.Start(t.Context())
	f.expect(t, Inactive)
}

func TestASimpleProgramIsActiveOnceItRuns(t *testing.T) {
	f := newFixture(t, func(config *Config) {
		config.Simple, config.Program = true, "/bin/sleep"
		config.Args = func() ([]string, error) { return []string{"1000"}, nil }
	})
	f.Start(t.Context())
	f.expect(t, Active)
}

func TestProgramIsRestarted(t *testing.T) {
	f := newFixture(t, func(config *Config) { config.Alone = true })
	f.Start(t.Context())
	first := f.next(t)
	first.Signal(syscall.SIGKILL)
	<-first.Done()
	f.next(t)
	f.Start(t.Context()) // nothing to do, because it is started
	if len(f.started) > 0 {
		t.Error("a program was started beside the other")
	}
}

func TestStartReturnsWhenTheProgramFails(t *testing.T) {
	for name, change := range map[string]func(config *Config){
		"program ends":   func(config *Config) { config.Program = "/bin/false" },
		"program absent": func(config *Config) { config.Program = "/no/program" },
		"no arguments":   func(config *Config) { config.Args = func() ([]string, error) { return nil, os.ErrPermission } },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, change)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			f.Start(ctx)
			if ctx.Err() != nil {
				t.Error("the start waited for a program that had failed")
			}
			f.expect(t, Activating)
		})
	}
}

func TestProgramStartsWhenItsFileIsThere(t *testing.T) {
	var file string
	f := newFixture(t, func(config *Config) {
		config.Needs = filepath.Join(config.Folder, "sub/config")
		file = config.Needs
	})
	f.Start(t.Context())
	if len(f.started) > 0 {
		t.Fatal("the program was started without its file")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.next(t)
	f.Start(t.Context())
	f.expect(t, Active)
}

func TestOutputIsKept(t *testing.T) {
	f := newFixture(t, func(config *Config) {
		config.Program = "/bin/sh"
		config.Args = func() ([]string, error) { return []string{"-c", "echo to stdout; echo to stderr >&2; exit 1"}, nil }
	})
	f.Start(t.Context())
	var log []byte
	var err error
	// A service waits only a moment for the output of a program that has ended.
	for began := time.Now(); time.Since(began) < time.Minute; wait(t.Context(), 10*time.Millisecond) {
		log, err = os.ReadFile(filepath.Join(f.folder, "log/helper.log"))
		if err == nil && strings.HasPrefix(string(log), "to stdout\nto stderr\n") {
			return
		}
	}
	t.Errorf("the log is %q, %v", log, err)
}

// fullDisk is a log on a disk that has no room for the first writes.
type fullDisk struct {
	failures int
	kept     strings.Builder
}

func (d *fullDisk) Write(data []byte) (int, error) {
	if d.failures > 0 {
		d.failures--
		return 0, syscall.ENOSPC
	}
	return d.kept.Write(data)
}

func TestOutputIsKeptAgainOnceTheDiskHasRoom(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	disk, said := &fullDisk{failures: 2}, &strings.Builder{}
	s := &Service{output: disk, log: slog.New(slog.NewTextHandler(said, nil))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.copyOutput(read)
	}()
	// More than a pipe holds: what is lost must not block the program either.
	for range 200 {
		if _, err := write.WriteString(strings.Repeat("x", 1023) + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write.WriteString("the last line\n"); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	if !strings.HasSuffix(disk.kept.String(), "\nthe last line\n") {
		t.Errorf("the log has %d bytes, and not the last line", disk.kept.Len())
	}
	if count := strings.Count(said.String(), "no space left on device"); count != 1 {
		t.Errorf("the agent says %d times that the log cannot be written, want once: %s", count, said)
	}
}

// newStopping returns a service that another caller is stopping, its program, which takes a while to end, and what is
// closed when that caller is done.
func newStopping(t *testing.T) (*fixture, *process.Process, <-chan struct{}) {
	t.Helper()
	f := newFixture(t, func(config *Config) {
		config.Program, config.Simple = "/bin/sh", true
		config.Args = func() ([]string, error) {
			return []string{"-c", "trap 'sleep 0.5; exit' TERM; echo up; while :; do sleep 0.05; done"}, nil
		}
	})
	f.Start(t.Context())
	program := f.next(t)
	f.waitForOutput(t, "up")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		f.Stop()
	}()
	waitFor(t, "the program is being stopped", func() bool { return !f.running() })
	return f, program, stopped
}

// TestStartDuringStop starts a service while another caller stops it: the agent and kubeadm both
// restart the kubelet.
func TestStartDuringStop(t *testing.T) {
	f, first, stopped := newStopping(t)
	f.Start(t.Context())
	f.next(t)
	select {
	case <-first.Done():
	default:
		t.Error("two programs run at once")
	}
	<-stopped
	f.expect(t, Active)
}

// TestStopDuringStop stops a service that another caller is stopping, as when an instance ends while
// the kubelet is restarted.
func TestStopDuringStop(t *testing.T) {
	f, program, stopped := newStopping(t)
	f.Stop()
	select {
	case <-program.Done():
	default:
		t.Error("the program still runs")
	}
	<-stopped
}

// running reports whether nobody has asked for the end of the program.
func (f *fixture) running() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cancel != nil
}

// waitForOutput waits until the program has written a line.
func (f *fixture) waitForOutput(t *testing.T, line string) {
	t.Helper()
	waitFor(t, "the program has written "+line, func() bool {
		content, err := os.ReadFile(filepath.Join(f.folder, "log/helper.log"))
		return err == nil && strings.Contains(string(content), line)
	})
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, reached func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(10 * time.Second)
	for !reached() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not so within 10 s: %s", what)
		}
	}
}

func TestEnableChangesOnlyTheMark(t *testing.T) {
	f := newFixture(t, nil)
	f.Disable()
	if f.Enabled() {
		t.Error("the service is enabled")
	}
	f.Enable()
	if !f.Enabled() || len(f.started) > 0 {
		t.Error("the service is disabled or was started")
	}
}
