// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/logfile"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

const (
	// maxLogSize of a service's log in bytes; as much again is kept of the one before.
	maxLogSize = 10 << 20

	// startTimeout is how long a start waits for the program to say that it has started.
	startTimeout = 30 * time.Second
	stopTimeout  = 5 * time.Second
	// drainTime is how long the output of a program that ended is waited for, when something that it left behind still holds it.
	drainTime = 200 * time.Millisecond
	// firstPause and longestPause bound the time between the program's end and its next start.
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
	// settled is how long a program must have run for the next pause to be the first again.
	settled = 30 * time.Second
)

// State of a service, in systemd's words.
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

// Config says what a service is.
type Config struct {
	// Name of the service, for people and for its socket.
	Name string
	// Program that the service runs.
	Program string
	// Args returns the program's arguments after its name; it is asked at each start.
	Args func() ([]string, error)
	// Env of the program, besides what tells it how to say that it has started.
	Env []string
	// LogPath is where the program's output is kept.
	LogPath string
	// Needs is a file without which the program is not started; none if it is empty.
	Needs string
	// Simple has the program count as started as soon as it runs, and not only when it says so, as systemd's services of type simple do.
	Simple bool
	// Alone ends only the program when the service is stopped or the program ends, and not what that has started.
	Alone bool
	// Folder of the socket at which the program says that it has started.
	Folder string
	// Starter starts processes.
	Starter Starter
	// Log of the agent.
	Log *slog.Logger
}

// Service is one service, safe for use by several goroutines.
type Service struct {
	config Config
	log    *slog.Logger
	output *logfile.File
	notify *notifySocket

	mu      sync.Mutex
	enabled bool
	closed  bool
	state   State
	since   time.Time
	cancel  context.CancelFunc // ends the running program and its restarts
	done    chan struct{}      // closed when they have ended
	started chan struct{}      // closed when the first program has said that it has started, or has ended
}

// New returns a service that is enabled, as packages leave theirs, and inactive.
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

// Active returns the service's state and since when it has been so.
func (s *Service) Active() (string, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.state), s.since
}

// Enabled tells whether the service is enabled.
func (s *Service) Enabled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enabled
}

// Enable enables the service. That has no effect but on Enabled: an instance starts its services itself.
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

// Start starts the program and returns when it has said that it has started, so that who asked finds it answering. It
// returns earlier when a file that it needs is missing, when it ended, or after startTimeout; Active tells these apart.
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

// begin makes the program run unless it does, and returns what is closed when it has started.
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
		s.cancel, s.done, s.started = cancel, make(chan struct{}), make(chan struct{})
		go s.run(ctx, s.done, s.started)
	}
	return s.started
}

// Stop stops the program and returns when it has ended.
func (s *Service) Stop() {
	s.mu.Lock()
	cancel, done := s.cancel, s.done
	s.cancel = nil
	s.mu.Unlock()
	if cancel == nil {
		return
	}
	cancel()
	<-done
}

// Close stops the program for good: whoever starts the service from now on gets nothing.
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
