// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	defaultReadyTimeout = time.Minute
	defaultStopTimeout  = 15 * time.Second
	readyInterval       = 25 * time.Millisecond
	// A child that has run this long counts as healthy, and its next death counts as the first
	// again.
	healthyAfter = 30 * time.Second
	// A child that is not ready yet and dies this soon, this many times in a row, will not recover.
	quickly        = 5 * time.Second
	maxQuickDeaths = 5
)

// Process describes a process to run.
type Process struct {
	// Name of the process: unique, and the stem of its log file and of its pid file.
	Name string
	// Path of the program.
	Path string
	// Args are the arguments without the program's name. Everyone on the machine can see them, so
	// they must not contain secrets.
	Args []string
	// Env is added to PATH, in the form NAME=value.
	Env []string
	// Ready returns nil once the process works. It is called repeatedly; a nil function means ready
	// at once.
	Ready func(ctx context.Context) error
	// StopTimeout is how long the process may take to stop after SIGTERM, before it gets SIGKILL;
	// 15 s if zero.
	StopTimeout time.Duration
}

// Options of a Supervisor. All are required except ReadyTimeout.
type Options struct {
	// LogDir holds <name>.log of each process; it must exist.
	LogDir string
	// PIDDir holds <name>.pid of each process while it runs; it must exist.
	PIDDir string
	// ReadyTimeout is how long a process may take to become ready, with all its restarts if it dies
	// before; one minute if zero.
	ReadyTimeout time.Duration
	// Notify is called on deaths and restarts. It must not block.
	Notify func(Event)
}

// Event is the death of a process, or that it is running again.
type Event struct {
	// Name of the process.
	Name string
	// Err is why it died; nil if it is running again.
	Err error
	// RestartIn is the time until the process is restarted.
	RestartIn time.Duration
}

// Supervisor runs processes. Create one with New; its methods are safe for concurrent use.
type Supervisor struct {
	options  Options
	stopping context.Context
	stop     context.CancelFunc
	starting sync.RWMutex // read by starts, so that Stop waits for them
	keepers  sync.WaitGroup

	mu       sync.Mutex
	children []*child
}

var errStopped = errors.New("the supervisor has been stopped")

// New returns a Supervisor that runs nothing yet.
func New(options Options) *Supervisor {
	if options.ReadyTimeout == 0 {
		options.ReadyTimeout = defaultReadyTimeout
	}
	s := &Supervisor{options: options}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// LogPath returns the path of the log of the named process.
func (s *Supervisor) LogPath(name string) string {
	return filepath.Join(s.options.LogDir, name+".log")
}

// Start runs the process and returns once it is ready. A process that dies earlier, for example
// because a slow machine let a connection time out, is started again after growing delays. If it is
// not ready after ReadyTimeout, once ctx ends or Stop is called, or after five deaths at once, Start
// returns a NotReadyError with the last reason, and nothing is left of the process.
func (s *Supervisor) Start(ctx context.Context, process Process) error {
	s.starting.RLock()
	defer s.starting.RUnlock()
	if s.stopping.Err() != nil {
		return fmt.Errorf("start %s: %w", process.Name, errStopped)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.stopping, func() { cancel(errStopped) })()
	c := &child{process: process, log: s.LogPath(process.Name), pidFile: filepath.Join(s.options.PIDDir, process.Name+".pid")}
	if err := s.bringUp(ctx, c); err != nil {
		return err
	}
	s.mu.Lock()
	s.children = append(s.children, c)
	s.mu.Unlock()
	s.keepers.Go(func() { s.keep(c) })
	return nil
}

// bringUp starts the child, again if it dies, until it is ready or will not become ready.
func (s *Supervisor) bringUp(ctx context.Context, c *child) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.ReadyTimeout)
	defer cancel()
	backoff := restartBackoff()
	var died *ExitedError
	for quick := 1; ; quick++ {
		began := time.Now()
		err := c.start(ctx, s.options.ReadyTimeout)
		if err == nil {
			if died != nil {
				s.options.Notify(Event{Name: c.process.Name})
			}
			return nil
		}
		if !errors.As(err, &died) {
			if died != nil {
				err = fmt.Errorf("%w; before that, %w", err, died)
			}
			return err
		}
		if time.Since(began) > quickly {
			quick = 0
		}
		if quick == maxQuickDeaths {
			return err
		}
		s.pause(ctx, c, died, backoff.Step())
		if ctx.Err() != nil {
			return &NotReadyError{Name: c.process.Name, Log: c.log, Err: fmt.Errorf("%w: %w", context.Cause(ctx), died)}
		}
	}
}

// pause reports the death of a child, and waits until it may be started again or ctx ends.
func (s *Supervisor) pause(ctx context.Context, c *child, cause error, delay time.Duration) {
	s.options.Notify(Event{Name: c.process.Name, Err: cause, RestartIn: delay})
	select {
	case <-ctx.Done():
	case <-time.After(delay):
	}
}

// keep restarts a child whenever it dies, until the supervisor is stopped.
func (s *Supervisor) keep(c *child) {
	backoff := restartBackoff()
	for {
		started := time.Now()
		run := c.current()
		select {
		case <-s.stopping.Done():
			return
		case <-run.Done():
		}
		if s.stopping.Err() != nil {
			return
		}
		if time.Since(started) > healthyAfter {
			backoff = restartBackoff()
		}
		s.revive(c, &backoff, context.Cause(run))
	}
}

// revive tries until the child is ready again or the supervisor is stopped.
func (s *Supervisor) revive(c *child, backoff *wait.Backoff, cause error) {
	for {
		s.pause(s.stopping, c, cause, backoff.Step())
		if s.stopping.Err() != nil {
			return
		}
		if cause = c.start(s.stopping, s.options.ReadyTimeout); cause == nil {
			s.options.Notify(Event{Name: c.process.Name})
			return
		}
	}
}

// restartBackoff restarts at once after the first death, then after growing delays of up to 30 s.
func restartBackoff() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 3, Steps: 7, Cap: 30 * time.Second}
}

// Stop stops all processes in reverse order, and returns an error for those that could not be
// stopped. No process is started or restarted afterwards.
func (s *Supervisor) Stop() error {
	s.stop()
	s.starting.Lock()
	defer s.starting.Unlock()
	s.keepers.Wait()
	var errs []error
	for _, c := range slices.Backward(s.children) {
		if err := c.terminate(); err != nil {
			errs = append(errs, err)
		}
	}
	s.children = nil
	return errors.Join(errs...)
}

// openLog opens the log of a process. Only its owner may read it.
func openLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
