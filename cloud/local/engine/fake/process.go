// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"os"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
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
