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

package fake

import (
	"os"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/process"
)

// fakeProcess is something that seems to run.
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

// boot is of this program: fake processes are of the machine's present boot too.
var boot, _ = process.Identify(os.Getpid())
