// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// run keeps the program running until ctx is done.
func (s *Service) run(ctx context.Context, done, started chan struct{}) {
	defer close(done)
	defer s.setState(Inactive)
	first := sync.OnceFunc(func() { close(started) })
	defer first()
	pause := firstPause
	for ctx.Err() == nil {
		s.setState(Activating)
		if err := s.waitForNeeds(ctx); err != nil {
			if ctx.Err() == nil {
				s.log.Error("Cannot watch for the file that a service needs", "file", s.config.Needs, "error", err)
			}
			return
		}
		begin := time.Now()
		s.runOnce(ctx, first)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) > settled {
			pause = firstPause
		}
		s.setState(Activating)
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

// runOnce runs the program until it ends, or stops it when ctx is done.
func (s *Service) runOnce(ctx context.Context, started func()) {
	defer started()
	proc, drained, err := s.startProcess()
	if err != nil {
		s.log.Error("Cannot start a service", "error", err)
		return
	}
	ready := s.notify.ready()
	for {
		select {
		case <-ready:
			s.setState(Active)
			started()
			ready = nil
		case <-proc.Done():
			process.WaitDrained(drained)
			s.log.Warn("A service ended", "exit", proc.Exit().String(), "log", s.config.LogPath)
			return
		case <-ctx.Done():
			proc.Stop(context.WithoutCancel(ctx), syscall.SIGTERM, stopTimeout)
			return
		}
	}
}

// startProcess starts the program. The returned channel is closed when all its output is in the
// log.
func (s *Service) startProcess() (*process.Process, <-chan struct{}, error) {
	args, err := s.config.Args()
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("output of %s: %w", s.config.Name, err)
	}
	s.notify.reset()
	proc, err := s.config.Starter.Start(process.Spec{
		Path:      s.config.Program,
		Args:      slices.Concat([]string{filepath.Base(s.config.Program)}, args),
		Env:       slices.Concat(s.config.Env, []string{"NOTIFY_SOCKET=" + s.notify.path}),
		Stdout:    write,
		Stderr:    write,
		KillGroup: !s.config.Alone,
		Alone:     s.config.Alone,
	})
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, nil, err
	}
	if s.config.Simple {
		s.notify.signal()
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		s.copyOutput(read)
	}()
	return proc, drained, nil
}

// copyOutput writes the program's output to its log. What cannot be written is lost, because the
// program must not block on a full pipe.
func (s *Service) copyOutput(read *os.File) {
	defer func() { _ = read.Close() }()
	_, _ = io.Copy(&lossy{service: s}, read)
}

// lossy writes to a service's log and never fails. A full disk loses only the output of the time
// when it is full.
type lossy struct {
	service *Service
	failing bool
}

// Write counts lost output as written. It reports only the first of consecutive failures.
func (l *lossy) Write(data []byte) (int, error) {
	_, err := l.service.output.Write(data)
	if err != nil && !l.failing {
		l.service.log.Error("Cannot write the log of a service", "error", err)
	}
	l.failing = err != nil
	return len(data), nil
}

// waitForNeeds waits until the file that the program needs exists.
func (s *Service) waitForNeeds(ctx context.Context) error {
	path := s.config.Needs
	if path == "" || exists(path) {
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
	for !exists(path) { // it may have been created before the watch began
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
