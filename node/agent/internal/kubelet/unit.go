/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/instance"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/logfile"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

const (
	// logPath is the kubelet's own log.
	logPath = "/var/log/kubelet.log"
	// maxLogSize of the log in bytes; as much again is kept of the one before.
	maxLogSize = 10 << 20

	// startTimeout is how long a start waits for the kubelet to say that it has started.
	startTimeout = 30 * time.Second
	stopTimeout  = 5 * time.Second
	// firstPause and longestPause bound the time between the kubelet's end and its next start.
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
	// settled is how long a kubelet must have run for the next pause to be the first again.
	settled = 30 * time.Second
)

// State of the unit, in systemd's words.
type State string

// States of the unit.
const (
	Inactive   State = "inactive"
	Activating State = "activating"
	Active     State = "active"
)

// Starter starts processes.
type Starter interface {
	// Start starts a process.
	Start(spec process.Spec) (*process.Process, error)
}

// Config is what the unit needs.
type Config struct {
	// Instance that the kubelet runs in.
	Instance *instance.Instance
	// Program is the kubelet.
	Program string
	// Path is the variable PATH of the kubelet.
	Path string
	// Starter starts processes.
	Starter Starter
	// Log of the agent.
	Log *slog.Logger
}

// Unit is the kubelet's unit, safe for use by several goroutines.
type Unit struct {
	config Config
	output *logfile.File
	notify *notifySocket

	mu      sync.Mutex
	enabled bool
	state   State
	since   time.Time
	cancel  context.CancelFunc // ends the running kubelet and its restarts
	done    chan struct{}      // closed when they have ended
	started chan struct{}      // closed when the first kubelet has said that it has started, or has ended
}

// New returns the unit: enabled, as kubeadm's packages leave it, and inactive.
func New(config Config) (*Unit, error) {
	output, err := logfile.Open(logPath, maxLogSize)
	if err != nil {
		return nil, err
	}
	notify, err := listenNotify()
	if err != nil {
		return nil, err
	}
	return &Unit{config: config, output: output, notify: notify, enabled: true, state: Inactive, since: time.Now()}, nil
}

// Configured tells whether kubeadm has left what the kubelet needs.
func Configured() bool {
	return exists(ConfigFile) && (exists(Kubeconfig) || exists(BootstrapKubeconfig))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Active returns the unit's state and since when it has been so.
func (u *Unit) Active() (string, time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return string(u.state), u.since
}

// Enabled tells whether the unit is enabled.
func (u *Unit) Enabled() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.enabled
}

// Enable enables the unit. That has no effect but on Enabled: an instance does not boot twice.
func (u *Unit) Enable() { u.setEnabled(true) }

// Disable disables the unit.
func (u *Unit) Disable() { u.setEnabled(false) }

func (u *Unit) setEnabled(enabled bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.enabled = enabled
}

func (u *Unit) setState(state State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state != state {
		u.state, u.since = state, time.Now()
	}
}

// Start starts the kubelet and returns when it has said that it has started, so that who asked finds it answering. It
// returns earlier when there is no configuration yet, when the kubelet ended, or after startTimeout; Active tells these apart.
func (u *Unit) Start(ctx context.Context) {
	u.mu.Lock()
	if u.cancel == nil {
		run, cancel := context.WithCancel(context.Background())
		u.cancel, u.done, u.started = cancel, make(chan struct{}), make(chan struct{})
		go u.run(run, u.done, u.started)
	}
	started := u.started
	u.mu.Unlock()
	if !exists(ConfigFile) {
		return
	}
	timer := time.NewTimer(startTimeout)
	defer timer.Stop()
	select {
	case <-started:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Stop stops the kubelet and returns when it has ended.
func (u *Unit) Stop() {
	u.mu.Lock()
	cancel, done := u.cancel, u.done
	u.cancel = nil
	u.mu.Unlock()
	if cancel == nil {
		return
	}
	cancel()
	<-done
}

// run keeps the kubelet running until ctx is done.
func (u *Unit) run(ctx context.Context, done, started chan struct{}) {
	defer close(done)
	defer u.setState(Inactive)
	first := sync.OnceFunc(func() { close(started) })
	pause := firstPause
	for ctx.Err() == nil {
		u.setState(Activating)
		if err := waitForFile(ctx, ConfigFile); err != nil {
			if ctx.Err() == nil {
				u.config.Log.Error("Can not watch for the kubelet's configuration", "error", err)
			}
			return
		}
		begin := time.Now()
		u.runOnce(ctx, first)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) > settled {
			pause = firstPause
		}
		u.setState(Activating)
		wait(ctx, pause)
		pause = min(2*pause, longestPause)
	}
}

func wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// runOnce runs the kubelet until it ends, or stops it when ctx is done.
func (u *Unit) runOnce(ctx context.Context, started func()) {
	proc, err := u.startProcess()
	if err != nil {
		u.config.Log.Error("Can not start the kubelet", "error", err)
		return
	}
	ready := u.notify.ready()
	for {
		select {
		case <-ready:
			u.setState(Active)
			started()
			ready = nil
		case <-proc.Done():
			u.config.Log.Warn("Kubelet ended", "exit", proc.Exit().String(), "log", logPath)
			u.setState(Activating)
			started()
			return
		case <-ctx.Done():
			proc.Stop(context.WithoutCancel(ctx), syscall.SIGTERM, stopTimeout)
			return
		}
	}
}

func (u *Unit) startProcess() (*process.Process, error) {
	flagsContent, err := readOptional(FlagsFile)
	if err != nil {
		return nil, err
	}
	defaultsContent, err := readOptional(DefaultsFile)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("output of kubelet: %w", err)
	}
	u.notify.reset()
	proc, err := u.config.Starter.Start(process.Spec{
		Path:      u.config.Program,
		Args:      append([]string{filepath.Base(u.config.Program)}, flags(u.config.Instance, flagsContent, defaultsContent)...),
		Env:       environment(u.config.Instance, u.config.Path, u.notify.path),
		Stdout:    write,
		Stderr:    write,
		KillGroup: true,
	})
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	go u.copyOutput(read)
	return proc, nil
}

// waitForFile returns when the file exists.
func waitForFile(ctx context.Context, path string) error {
	if exists(path) {
		return nil
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	if err := watcher.Add(folder); err != nil {
		return err
	}
	for !exists(path) { // it may have come before the watch began
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-watcher.Errors:
			return err
		case <-watcher.Events:
		}
	}
	return nil
}
