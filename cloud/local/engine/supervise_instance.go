// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// doneUserData is the bootstrap data of a machine that restarts after its bootstrap has ended: it
// has nothing left to do.
const doneUserData = "#cloud-config\n"

// retryDelay is how long a supervisor waits before it retries something that the host refused but
// that must be done.
const retryDelay = 2 * time.Second

// instanceSupervisor makes one instance match its stored record, and stores what happens to the
// instance.
type instanceSupervisor struct {
	engine  *Engine
	id      string
	log     klog.Logger
	machine Machine
	// boot is the place of the instance among those that boot; nil if it never had one.
	boot *boot
}

func instanceActor(record *store.Instance) actorOf {
	id, name, tenant := record.ID, record.Name, record.Tenant
	return actorOf{id: id, new: func(e *Engine) func(context.Context, <-chan struct{}) {
		s := &instanceSupervisor{engine: e, id: id, log: e.log(tenant, "Instance", name).WithValues("id", id)}
		return s.run
	}}
}

func (s *instanceSupervisor) run(ctx context.Context, woken <-chan struct{}) {
	defer s.booted()
	for ctx.Err() == nil {
		record, err := s.load()
		if err != nil {
			s.log.Error(err, "Reading the instance failed")
			pause(ctx, woken)
			continue
		}
		if record == nil {
			return
		}
		s.step(ctx, record, woken)
	}
}

func (s *instanceSupervisor) step(ctx context.Context, record *store.Instance, woken <-chan struct{}) {
	switch record.State {
	case cloud.InstancePending:
		if !s.holdsBoot(ctx, record, woken) && !s.awaitsTurn(ctx, record, woken) {
			s.launch(ctx, record, woken)
		}
	case cloud.InstanceRunning:
		s.watch(ctx, record, woken)
	case cloud.InstanceDeleting:
		s.booted()
		if err := s.remove(ctx, record); err != nil && ctx.Err() == nil {
			s.log.Error(err, "Removing the instance failed and is tried again")
			s.note(err.Error())
			pause(ctx, woken)
		}
	case cloud.InstanceStopped, cloud.InstanceFailed:
		s.booted()
		s.idle(ctx, record, woken)
	}
}

func (s *instanceSupervisor) load() (record *store.Instance, err error) {
	err = s.engine.view(func(tx *store.Tx) error {
		record, err = tx.Instance(s.id)
		return err
	})
	return record, err
}

// change applies fn to the currently stored instance, and stores the result if fn reports a change.
func (s *instanceSupervisor) change(fn func(*store.Instance) bool) error {
	return s.engine.update(func(c *change) error {
		record, err := c.Instance(s.id)
		if err != nil || record == nil || !fn(record) {
			return err
		}
		return c.putInstance(record)
	})
}

// insist stores what happened to the instance, which must not be lost. While the store refuses it, for
// example because the disk is full, it tries again until ctx ends. It reports whether it is stored.
func (s *instanceSupervisor) insist(ctx context.Context, woken <-chan struct{}, store func() error) bool {
	for {
		err := store()
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		s.log.Error(err, "What happened to the instance could not be stored and is tried again")
		pause(ctx, woken)
	}
}

// awaitsTurn waits while enough other instances boot, and reports whether the stored state must be
// read again.
func (s *instanceSupervisor) awaitsTurn(ctx context.Context, record *store.Instance, woken <-chan struct{}) bool {
	if s.boot == nil || s.boot.ended() {
		s.boot = s.engine.boots.enter(record.Tenant)
	}
	select {
	case <-s.boot.turn:
		return false
	default:
	}
	s.note("waiting for other instances to finish booting")
	select {
	case <-ctx.Done():
	case <-woken:
	case <-s.boot.turn:
	}
	return true
}

// booted gives the place among those that boot to another instance.
func (s *instanceSupervisor) booted() {
	if s.boot != nil {
		s.boot.end()
	}
}

// launch starts the machine. It first undoes a start that a killed daemon left half done, since
// nothing about that start was promised.
func (s *instanceSupervisor) launch(ctx context.Context, record *store.Instance, woken <-chan struct{}) {
	machine, err := s.start(ctx, record)
	if err == nil {
		s.machine = machine
	}
	if ctx.Err() != nil && err != nil {
		return
	}
	if err != nil {
		s.log.Error(err, "Starting the instance failed")
	}
	stored := s.insist(ctx, woken, func() error {
		return s.change(func(now *store.Instance) bool { return launched(now, err, s.engine.options.Now()) })
	})
	if stored && err == nil {
		s.log.Info("Instance runs", "address", record.Address, "zone", record.Zone)
	}
}

// launched records how the start of an instance ended. It reports false if that no longer matters.
func launched(record *store.Instance, problem error, now time.Time) bool {
	if record.State != cloud.InstancePending {
		return false
	}
	if problem != nil && record.KeepsDisk {
		// It has data. The cause may pass, and then a user can start it.
		record.Switch = ""
		ended(record, "the instance did not start again: "+problem.Error())
		return true
	}
	if problem != nil {
		record.State, record.Message = cloud.InstanceFailed, problem.Error()
		return true
	}
	record.State, record.Message = cloud.InstanceRunning, ""
	record.Strikes, record.KeepsDisk = fault.Begun(record.Strikes, now), false
	return true
}

func (s *instanceSupervisor) start(ctx context.Context, record *store.Instance) (Machine, error) {
	if strike := fault.Of(record.Strikes, fault.BootFailure); strike != nil {
		return nil, fmt.Errorf("the instance did not boot (%s)", strike.Cause())
	}
	if err := s.undo(ctx, record); err != nil {
		return nil, fmt.Errorf("undo an earlier start: %w", err)
	}
	var data []byte
	if err := s.engine.view(func(tx *store.Tx) error {
		data = tx.UserData(s.id)
		return nil
	}); err != nil {
		return nil, err
	}
	if record.KeepsDisk && len(data) == 0 {
		data = []byte(doneUserData)
	}
	spec := MachineSpec{
		Instance: record.Instance, Tenant: record.Tenant, CPUs: record.CPUs, MemoryBytes: record.MemoryBytes,
		UserData: data, KeepDisk: record.KeepsDisk,
	}
	return s.engine.options.Machines.Start(ctx, spec, func(identity process.Identity) error {
		return s.engine.update(func(c *change) error {
			now, err := c.Instance(s.id)
			if err != nil {
				return err
			}
			if now == nil || now.State != cloud.InstancePending {
				return fmt.Errorf("instance %s was deleted while it was started", s.id)
			}
			now.Process = &identity
			// The API does not show the process, so no event is needed.
			return c.PutInstance(now)
		})
	})
}

// watch waits for the end of the machine, a report, or a change of the stored state.
func (s *instanceSupervisor) watch(ctx context.Context, record *store.Instance, woken <-chan struct{}) {
	if s.machine == nil && !s.find(ctx, record, woken) {
		return
	}
	if record.Switch != "" {
		s.obey(ctx, record, woken)
		return
	}
	due, end := s.due(record)
	defer end()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-due:
		s.strike(ctx, record, woken)
	case <-s.machine.Done():
		s.stopped(ctx, s.machine.Exit(), woken)
	case report := <-s.machine.Reports():
		s.report(ctx, report, woken)
	}
}

// find finds a machine again and reports whether it runs. As long as that is unknown, the instance
// stays as it is.
func (s *instanceSupervisor) find(ctx context.Context, record *store.Instance, woken <-chan struct{}) bool {
	if record.Process == nil {
		s.stopped(ctx, "its process is unknown", woken)
		return false
	}
	machine, err := s.engine.options.Machines.Find(s.id, *record.Process)
	switch {
	case err == nil:
		s.log.Info("Instance found again", "pid", record.Process.PID)
		s.machine = machine
		return true
	case !errors.Is(err, process.ErrGone):
		s.log.Error(err, "Looking for the instance failed and is tried again")
		pause(ctx, woken)
	case !record.Process.SameBoot():
		s.again(ctx, "the host was restarted", woken)
	default:
		s.stopped(ctx, "it ended while foocloud was not running", woken)
	}
	return false
}

func (s *instanceSupervisor) stopped(ctx context.Context, how string, woken <-chan struct{}) {
	change := func(now *store.Instance) bool {
		if now.State != cloud.InstanceRunning {
			return false
		}
		ended(now, "the first process of the instance ended: "+how)
		return true
	}
	if s.insist(ctx, woken, func() error { return s.change(change) }) {
		s.log.Info("Instance stopped by itself", "exit", how)
	}
}

// again restarts an instance that did not stop by itself, with its old disk.
func (s *instanceSupervisor) again(ctx context.Context, cause string, woken <-chan struct{}) {
	change := func(now *store.Instance) bool {
		if now.State != cloud.InstanceRunning {
			return false
		}
		startAgain(now)
		return true
	}
	if s.insist(ctx, woken, func() error { return s.change(change) }) {
		s.log.Info("Instance starts again", "cause", cause)
	}
}

func (s *instanceSupervisor) report(ctx context.Context, report cloud.Bootstrap, woken <-chan struct{}) {
	over := report.State == cloud.BootstrapSucceeded || report.State == cloud.BootstrapFailed
	if over {
		s.booted()
	}
	change := func(c *change) error {
		now, err := c.Instance(s.id)
		if err != nil || now == nil || now.Bootstrap == report || now.BootstrapFailed {
			return err
		}
		now.Bootstrap = report
		// The bootstrap data is useless once the bootstrap has succeeded or failed.
		if over {
			now.BootstrapFailed = report.State == cloud.BootstrapFailed && len(c.UserData(s.id)) > 0
			if err := c.DeleteUserData(s.id); err != nil {
				return err
			}
		}
		return c.putInstance(now)
	}
	if s.insist(ctx, woken, func() error { return s.engine.update(change) }) {
		s.log.Info("Instance reported", "bootstrap", report.State)
	}
}

func (s *instanceSupervisor) remove(ctx context.Context, record *store.Instance) error {
	if err := s.engine.options.Machines.Remove(ctx, s.id, record.Process); err != nil {
		return err
	}
	return s.engine.update(func(c *change) error {
		now, err := c.Instance(s.id)
		if err != nil || now == nil {
			return err
		}
		if err := c.DeleteInstance(now); err != nil {
			return err
		}
		if err := c.instanceChanged(now); err != nil {
			return err
		}
		if now.Pool != "" {
			if err := s.engine.finishPool(c, now); err != nil {
				return err
			}
		}
		// Quota and an address are free again.
		return s.engine.fillWaiting(c)
	})
}

// note stores why a start or a deletion does not finish.
func (s *instanceSupervisor) note(message string) {
	err := s.change(func(now *store.Instance) bool {
		changed := now.Message != message
		now.Message = message
		return changed
	})
	if err != nil {
		s.log.Error(err, "Storing the instance's message failed")
	}
}

// pause waits before a retry. It drops a wake-up that came meanwhile, since the retry covers it
// anyway.
func pause(ctx context.Context, woken <-chan struct{}) {
	timer := time.NewTimer(retryDelay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-woken:
	default:
	}
}
