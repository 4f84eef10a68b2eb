// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/logfile"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

const (
	// maxLogSize is the size in bytes at which a service's log is rotated. One rotated log is kept.
	maxLogSize = 10 << 20

	// startTimeout is how long Start waits for the program to report that it is ready.
	startTimeout = 30 * time.Second
	stopTimeout  = 5 * time.Second
	// firstPause and longestPause limit the pause between the program's end and its next start.
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
	// settled is how long a program must have run for the next pause to be firstPause again.
	settled = 30 * time.Second
)

// State is the state of a service, in systemd's terms.
type State string

// States of a service.
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

// Config configures a service.
type Config struct {
	// Name is the name of the service, for people and for its socket.
	Name string
	// Program is the program that the service runs.
	Program string
	// Args returns the program's arguments without its name. It is called at each start.
	Args func() ([]string, error)
	// Env is the environment of the program. NOTIFY_SOCKET is added to it.
	Env []string
	// LogPath is the file that holds the program's output.
	LogPath string
	// Needs is a file without which the program is not started; empty means none.
	Needs string
	// Simple makes the program count as started as soon as it runs, without a notification, like a
	// systemd service of type simple.
	Simple bool
	// Alone stops only the program, not what it has started, when the service is stopped or the
	// program ends.
	Alone bool
	// Folder holds the socket for the program's notifications.
	Folder string
	// Starter starts processes.
	Starter Starter
	// Log is the agent's log.
	Log *slog.Logger
}

// Service is a service. It is safe for concurrent use.
type Service struct {
	config Config
	log    *slog.Logger
	output io.Writer
	notify *notifySocket

	mu      sync.Mutex
	enabled bool
	closed  bool
	state   State
	since   time.Time
	cancel  context.CancelFunc // stops the running program and its restarts
	done    chan struct{}      // closed when they have stopped
	started chan struct{}      // closed when the first program is ready or has ended
}

// New returns a service that is inactive and, as packages leave theirs, enabled.
func New(config Config) (*Service, error) {
	output, err := logfile.Open(config.LogPath, maxLogSize)
	if err != nil {
		return nil, err
	}
	notify, err := listenNotify(config.Folder, config.Name)
	if err != nil {
		return nil, err
	}
	return &Service{
		config: config, log: config.Log.With("service", config.Name), output: output, notify: notify,
		enabled: true, state: Inactive, since: time.Now(),
	}, nil
}

// Active returns the service's state and since when it is in that state.
func (s *Service) Active() (string, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.state), s.since
}

// Enabled reports whether the service is enabled.
func (s *Service) Enabled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enabled
}

// Enable enables the service. This only affects Enabled: an instance starts its services itself.
func (s *Service) Enable() { s.setEnabled(true) }

// Disable disables the service.
func (s *Service) Disable() { s.setEnabled(false) }

func (s *Service) setEnabled(enabled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enabled = enabled
}

func (s *Service) setState(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != state {
		s.state, s.since = state, time.Now()
	}
}

// Start starts the program and returns when the program has reported that it is ready, so that
// callers can use it. It returns earlier if a file that the program needs is missing or the program
// ends, and after startTimeout. Active distinguishes these cases.
func (s *Service) Start(ctx context.Context) {
	started := s.begin()
	if s.config.Needs != "" && !exists(s.config.Needs) {
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

// begin starts the program unless it is running, and returns a channel that is closed when the
// program has started.
func (s *Service) begin() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		never := make(chan struct{})
		close(never)
		return never
	}
	if s.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		before, done, started := s.done, make(chan struct{}), make(chan struct{})
		s.cancel, s.done, s.started = cancel, done, started
		go func() {
			if before != nil { // a program that is being stopped may still run
				<-before
			}
			s.run(ctx, done, started)
		}()
	}
	return s.started
}

// Stop stops the program and returns when it has ended.
func (s *Service) Stop() {
	s.mu.Lock()
	cancel, done := s.cancel, s.done
	s.cancel = nil
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	if done != nil { // somebody else may be stopping it
		<-done
	}
}

// Close stops the program for good. Start has no effect afterwards.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Stop()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
