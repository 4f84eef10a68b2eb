// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/store"
)

// Power is what may be done to an instance as with the switches of a machine.
type Power string

const (
	// PowerStop ends its processes gently, and those at once that have not ended after a while. It stays Stopped, with its disk.
	PowerStop Power = "stop"
	// PowerStart starts one that is Stopped, with what it had written. Its bootstrap data does not run again once it has ended.
	PowerStart Power = "start"
	// PowerReboot stops and starts it.
	PowerReboot Power = "reboot"
	// PowerFreeze has its processes stand still.
	PowerFreeze Power = "freeze"
	// PowerThaw has them go on.
	PowerThaw Power = "thaw"
)

// from says in which state each needs an instance to be.
var from = map[Power]cloud.InstanceState{
	PowerStop: cloud.InstanceRunning, PowerStart: cloud.InstanceStopped, PowerReboot: cloud.InstanceRunning,
	PowerFreeze: cloud.InstanceRunning, PowerThaw: cloud.InstanceRunning,
}

const (
	stoppedByUser = "stopped by a user"
	frozenByUser  = "frozen by a user"
)

// SwitchInstance does to an instance what action says; it goes on after the call. What has been done already is no error.
func (t *Tenant) SwitchInstance(_ context.Context, id string, action Power) error {
	return t.engine.update(func(c *change) error {
		record, err := t.instance(c.Tx, id)
		if err != nil {
			return err
		}
		needed, known := from[action]
		if !known {
			return &cloud.InvalidError{Field: "action", Value: string(action), Problem: "unknown", Allowed: powers()}
		}
		done := action == PowerStop && record.State == cloud.InstanceStopped ||
			action == PowerStart && (record.State == cloud.InstancePending || record.State == cloud.InstanceRunning)
		if done {
			return nil
		}
		if record.State != needed {
			return &cloud.InvalidError{
				Field: "action", Value: string(action), Problem: "the instance is " + string(record.State) + ", and must be " + string(needed),
			}
		}
		if action == PowerStart {
			startAgain(record)
		} else {
			record.Switch = string(action)
		}
		return c.putInstance(record)
	})
}

func powers() []string {
	names := make([]string, 0, len(from))
	for action := range from {
		names = append(names, string(action))
	}
	slices.Sort(names)
	return names
}

// startAgain has an instance start with what it has written.
func startAgain(record *store.Instance) {
	record.State, record.Message, record.StoppedBy, record.KeepsDisk = cloud.InstancePending, "", "", true
	record.Process = nil
}

// obey does what a user has ordered.
func (s *instanceSupervisor) obey(ctx context.Context, record *store.Instance, woken <-chan struct{}) {
	action := Power(record.Switch)
	err := s.do(ctx, record, action)
	if err == nil {
		err = s.change(func(now *store.Instance) bool {
			now.Switch = ""
			if now.State == cloud.InstanceRunning {
				done(now, action)
			}
			return true
		})
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error(err, "A user's order could not be carried out and is tried again", "action", action)
		pause(ctx, woken)
		return
	}
	s.log.Info("Did what a user has ordered", "action", action)
}

func (s *instanceSupervisor) do(ctx context.Context, record *store.Instance, action Power) error {
	machines := s.engine.options.Machines
	switch action {
	case PowerStop, PowerReboot:
		return machines.Stop(ctx, s.id, record.Process)
	case PowerFreeze:
		return machines.Freeze(s.id)
	case PowerThaw:
		return machines.Thaw(s.id)
	case PowerStart: // needs nothing to be done before
	}
	return nil
}

// done notes what was done to an instance that ran.
func done(record *store.Instance, action Power) {
	switch action {
	case PowerStop:
		record.State, record.Message, record.Strikes = cloud.InstanceStopped, stoppedByUser, nil
	case PowerReboot:
		startAgain(record)
	case PowerFreeze:
		record.Message = frozenByUser
	case PowerThaw, PowerStart:
		record.Message = ""
	}
}
