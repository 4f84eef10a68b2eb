// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// Machines fakes machines. They run nothing.
type Machines struct {
	processes
	specs    map[string]engine.MachineSpec
	hold     chan struct{}
	switches chan struct{}
	frozen   map[string]bool
	// interrupted counts the commands that ended with their context.
	interrupted int
}

// failedCommand is the exit code of the command "exit".
const failedCommand = 3

var _ engine.Machines = &Machines{}

// NewMachines returns a Machines without running machines.
func NewMachines() *Machines {
	return &Machines{processes: processes{running: map[string]*fakeProcess{}}, specs: map[string]engine.MachineSpec{}, frozen: map[string]bool{}}
}

// HoldRemovals makes every later removal wait until the returned function is called.
func (m *Machines) HoldRemovals() (release func()) { return m.holdIn(&m.hold) }

// HoldSwitches makes every later stop, freeze and thaw wait until the returned function is called.
func (m *Machines) HoldSwitches() (release func()) { return m.holdIn(&m.switches) }

func (m *Machines) holdIn(place *chan struct{}) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := make(chan struct{})
	*place = hold
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		*place = nil
		close(hold)
	}
}

// await waits until a hold, if there is one, is released.
func (m *Machines) await(ctx context.Context, place *chan struct{}) error {
	m.mu.Lock()
	hold := *place
	m.mu.Unlock()
	if hold == nil {
		return nil
	}
	select {
	case <-hold:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Die ends a machine as if its first process had died.
func (m *Machines) Die(id, exit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running[id].kill(exit)
}

// Report makes a machine report on its bootstrap data.
func (m *Machines) Report(id string, report cloud.Bootstrap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running[id].reports <- report
}

// Spec returns the spec that a machine was started with.
func (m *Machines) Spec(id string) engine.MachineSpec {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.specs[id]
}

// Start implements engine.Machines.
func (m *Machines) Start(_ context.Context, spec engine.MachineSpec, commit engine.Commit) (engine.Machine, error) {
	p, err := m.start(commit)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running[spec.ID], m.specs[spec.ID] = p, spec
	return p, nil
}

// Find implements engine.Machines.
func (m *Machines) Find(id string, identity process.Identity) (engine.Machine, error) {
	p, err := m.find(id, identity)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Kill implements engine.Machines.
func (m *Machines) Kill(_ context.Context, id string, _ *process.Identity) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.running[id]; ok {
		p.kill("signal: killed")
	}
	return nil
}

// Stop implements engine.Machines.
func (m *Machines) Stop(ctx context.Context, id string, _ *process.Identity) error {
	if err := m.await(ctx, &m.switches); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.running[id]; ok {
		p.kill("exit status 0")
	}
	return nil
}

// Freeze implements engine.Machines.
func (m *Machines) Freeze(id string) error {
	if err := m.await(context.Background(), &m.switches); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frozen[id] = true
	return nil
}

// Thaw implements engine.Machines.
func (m *Machines) Thaw(id string) error {
	if err := m.await(context.Background(), &m.switches); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.frozen, id)
	return nil
}

// Frozen implements engine.Machines.
func (m *Machines) Frozen(id string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frozen[id], nil
}

// Remove implements engine.Machines.
func (m *Machines) Remove(ctx context.Context, id string, _ *process.Identity) error {
	if err := m.await(ctx, &m.hold); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.running[id]; ok {
		p.kill("removed")
		delete(m.running, id)
	}
	return nil
}

// Log implements engine.Machines.
func (m *Machines) Log(_ context.Context, id string, log engine.Log) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("the " + string(log.Source) + " of " + id + "\n")), nil
}

// Exec implements engine.Machines. It copies the input to the output and the command to the error
// output. The command "size" writes the first size of its terminal, "wait" reads no input and ends with
// ctx, and "exit" ends with the exit code 3.
func (m *Machines) Exec(ctx context.Context, _ string, exec engine.Exec) (int, error) {
	if exec.Stderr != nil {
		if _, err := io.WriteString(exec.Stderr, strings.Join(exec.Command, " ")); err != nil {
			return 0, err
		}
	}
	if exec.Stdin != nil && exec.Command[0] != "wait" {
		if _, err := io.Copy(exec.Stdout, exec.Stdin); err != nil {
			return 0, err
		}
	}
	switch exec.Command[0] {
	case "size":
		size := <-exec.Resize
		_, err := fmt.Fprintf(exec.Stdout, "%dx%d", size.Width, size.Height)
		return 0, err
	case "wait":
		<-ctx.Done()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.interrupted++
	case "exit":
		return failedCommand, nil
	}
	return 0, nil
}

// Interrupted returns how many commands ended because their callers had gone.
func (m *Machines) Interrupted() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.interrupted
}
