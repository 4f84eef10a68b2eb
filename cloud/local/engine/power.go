// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// Power is an action of an instance's power switch.
type Power string

const (
	// PowerStop stops the processes gracefully and kills those that are still running after a
	// while. The instance stays Stopped and keeps its disk.
	PowerStop Power = "stop"
	// PowerStart starts a Stopped instance with its old disk. Bootstrap data that has finished does
	// not run again.
	PowerStart Power = "start"
	// PowerReboot stops the instance and starts it again.
	PowerReboot Power = "reboot"
	// PowerFreeze suspends the instance's processes.
	PowerFreeze Power = "freeze"
	// PowerThaw resumes the instance's processes.
	PowerThaw Power = "thaw"
)

// from maps each action to the state that the instance must be in.
var from = map[Power]cloud.InstanceState{
	PowerStop: cloud.InstanceRunning, PowerStart: cloud.InstanceStopped, PowerReboot: cloud.InstanceRunning,
	PowerFreeze: cloud.InstanceRunning, PowerThaw: cloud.InstanceRunning,
}

const (
	stoppedByUser = "stopped by a user"
	frozenByUser  = "frozen by a user"
)

// SwitchInstance starts a power action on an instance; the action continues after the call. An
// action that is already done is not an error.
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

// startAgain makes an instance start again with its old disk.
func startAgain(record *store.Instance) {
	record.State, record.Message, record.StoppedBy, record.KeepsDisk = cloud.InstancePending, "", "", true
	record.Process = nil
}

// obey carries out the action that a user requested.
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
	case PowerStart: // needs no preparation
	}
	return nil
}

// done records the result of an action on a running instance.
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
