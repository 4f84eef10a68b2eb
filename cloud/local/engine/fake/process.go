// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"errors"
	"os"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// fakeProcess pretends to be a running process.
type fakeProcess struct {
	identity process.Identity
	done     chan struct{}
	reports  chan cloud.Bootstrap
	end      sync.Once
	exit     string
}

func newProcess(pid int) *fakeProcess {
	return &fakeProcess{
		identity: process.Identity{PID: pid, StartTime: uint64(pid), BootID: boot.BootID},
		done:     make(chan struct{}), reports: make(chan cloud.Bootstrap, 1),
	}
}

func (p *fakeProcess) Done() <-chan struct{}           { return p.done }
func (p *fakeProcess) Exit() string                    { return p.exit }
func (p *fakeProcess) Reports() <-chan cloud.Bootstrap { return p.reports }

func (p *fakeProcess) kill(exit string) {
	p.end.Do(func() {
		p.exit = exit
		close(p.done)
	})
}

func (p *fakeProcess) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// boot identifies this program. Fake processes share its boot ID, as if they belonged to the
// machine's current boot.
var boot, _ = process.Identify(os.Getpid())

// processes are the processes of a fake by their ID.
type processes struct {
	mu       sync.Mutex
	pid      int
	running  map[string]*fakeProcess
	startErr error
	findErr  error
}

// FailStarts makes every later start fail with err; nil ends that.
func (p *processes) FailStarts(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startErr = err
}

// FailNextFind makes the next Find fail with err.
func (p *processes) FailNextFind(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.findErr = err
}

// Starts returns how many processes were started, including processes that have ended.
func (p *processes) Starts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// Running returns how many processes are running.
func (p *processes) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	for _, started := range p.running {
		if !started.ended() {
			count++
		}
	}
	return count
}

// start returns a new process, which the caller must add to those that are running.
func (p *processes) start(commit engine.Commit) (*fakeProcess, error) {
	p.mu.Lock()
	p.pid++
	started, err := newProcess(p.pid), p.startErr
	p.mu.Unlock()
	return started, errors.Join(err, commit(started.identity))
}

func (p *processes) find(id string, identity process.Identity) (*fakeProcess, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.findErr; err != nil {
		p.findErr = nil
		return nil, err
	}
	found, ok := p.running[id]
	if !ok || found.ended() || found.identity != identity {
		return nil, process.ErrGone
	}
	return found, nil
}
