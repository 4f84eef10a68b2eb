// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// holdsBoot waits while a fault delays the boot, and reports whether the stored state must be read
// again.
func (s *instanceSupervisor) holdsBoot(ctx context.Context, record *store.Instance, woken <-chan struct{}) bool {
	left := record.CreatedAt.Add(fault.BootDelay(record.Strikes)).Sub(s.engine.options.Now())
	if left <= 0 {
		return false
	}
	rest(ctx, woken, left)
	return true
}

// idle waits while there is nothing to supervise. An instance that is due to be reclaimed is
// removed even if it has stopped.
func (s *instanceSupervisor) idle(ctx context.Context, record *store.Instance, woken <-chan struct{}) {
	due, end := s.due(record)
	defer end()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-due:
		s.strike(ctx, record, woken)
	}
}

// due returns a channel that fires when the next fault of an instance is due, and a function that
// ends the wait.
func (s *instanceSupervisor) due(record *store.Instance) (<-chan time.Time, func()) {
	next := record.ReclaimAt
	if strike := fault.Next(record.Strikes); strike != nil && (next == nil || strike.At.Before(*next)) {
		next = strike.At
	}
	if next == nil {
		return nil, func() {}
	}
	timer := time.NewTimer(next.Sub(s.engine.options.Now()))
	return timer.C, func() { timer.Stop() }
}

// strike carries out the fault that is due for an instance. It leaves an instance alone that was
// deleted meanwhile.
func (s *instanceSupervisor) strike(ctx context.Context, record *store.Instance, woken <-chan struct{}) {
	now := s.engine.options.Now()
	strike := fault.Next(record.Strikes)
	var err error
	switch {
	case record.ReclaimAt != nil && !now.Before(*record.ReclaimAt):
		err = s.take(ctx, record, "the cloud reclaimed it, as announced")
	case strike == nil || now.Before(*strike.At):
		return
	case strike.Kind == fault.LostInstance:
		err = s.take(ctx, record, strike.Cause())
	case strike.Kind == fault.SpotReclaim:
		err = s.giveNotice(*strike)
	default:
		err = s.cut(ctx, record, strike)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error(err, "Failed to inject a fault, retrying")
		pause(ctx, woken)
	}
}

// cut ends a machine like a power failure, but keeps the instance.
func (s *instanceSupervisor) cut(ctx context.Context, record *store.Instance, strike *fault.Strike) error {
	message := "the instance was stopped (" + strike.Cause() + ")"
	if strike.Kind == fault.ZoneOutage {
		message = "zone " + record.Zone + " is out (" + strike.Cause() + ")"
	}
	if err := s.engine.options.Machines.Kill(ctx, s.id, record.Process); err != nil {
		return err
	}
	s.log.Info("Instance stopped on purpose", "cause", message)
	return s.change(func(now *store.Instance) bool {
		if now.State != cloud.InstanceRunning {
			return false
		}
		now.State, now.Message, now.Strikes, now.Switch = cloud.InstanceStopped, message, nil, ""
		if strike.AfterOutage == fault.StartAgain {
			now.StoppedBy = strike.Rule
		}
		return true
	})
}

// undo removes what an earlier start left behind, except for a disk that must be kept.
func (s *instanceSupervisor) undo(ctx context.Context, record *store.Instance) error {
	switch {
	case record.Process == nil:
		return nil
	case record.KeepsDisk:
		return s.engine.options.Machines.Kill(ctx, s.id, record.Process)
	default:
		return s.engine.options.Machines.Remove(ctx, s.id, record.Process)
	}
}

// take removes an instance that nobody asked to delete. Its pool creates a replacement.
func (s *instanceSupervisor) take(ctx context.Context, record *store.Instance, cause string) error {
	if err := s.engine.options.Machines.Kill(ctx, s.id, record.Process); err != nil {
		return err
	}
	s.log.Info("Instance taken away on purpose", "cause", cause)
	return s.remove(ctx, record)
}

// giveNotice announces when the cloud will reclaim the instance.
func (s *instanceSupervisor) giveNotice(strike fault.Strike) error {
	return s.change(func(now *store.Instance) bool {
		if now.State != cloud.InstanceRunning {
			return false
		}
		now.Strikes = fault.Without(now.Strikes, strike.Rule)
		if now.ReclaimAt == nil {
			at := s.engine.options.Now().Add(strike.Notice()).UTC()
			now.ReclaimAt = &at
		}
		return true
	})
}

// rest waits for the delay, or until it is woken.
func rest(ctx context.Context, woken <-chan struct{}, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-timer.C:
	}
}
