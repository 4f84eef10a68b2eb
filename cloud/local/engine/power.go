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
	return modify(t, id, t.instance, func(c *change, record *store.Instance) error {
		if action == PowerStart && record.Switch == string(PowerStop) {
			action = PowerReboot // it is still running
		}
		if fulfilled(record, action) {
			return nil
		}
		if err := possible(record, action); err != nil {
			return err
		}
		if action == PowerStart {
			startAgain(record)
		} else {
			record.Switch = string(action)
		}
		return c.putInstance(record)
	})
}

// fulfilled reports whether nothing is left to do for an action.
func fulfilled(record *store.Instance, action Power) bool {
	switch action {
	case PowerStop:
		return record.State == cloud.InstanceStopped
	case PowerStart:
		return record.State == cloud.InstancePending || record.State == cloud.InstanceRunning
	default:
		return false
	}
}

// possible returns an InvalidError if an instance cannot do an action now.
func possible(record *store.Instance, action Power) error {
	invalid := &cloud.InvalidError{Field: "action", Value: string(action)}
	needed, known := from[action]
	switch {
	case !known:
		invalid.Problem, invalid.Allowed = "unknown", powers()
	case record.State != needed:
		invalid.Problem = "the instance is " + string(record.State) + ", and must be " + string(needed)
	case stops(record) && (action == PowerFreeze || action == PowerThaw):
		invalid.Problem = "the instance is about to stop"
	default:
		return nil
	}
	return invalid
}

// stops reports whether a pending action ends the processes of an instance.
func stops(record *store.Instance) bool {
	return record.Switch == string(PowerStop) || record.Switch == string(PowerReboot)
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
			if now.State != cloud.InstanceRunning {
				return false
			}
			done(now, action)
			return true
		})
	}
	switch {
	case err == nil:
		s.log.Info("Carried out a user's request", "action", action)
	case ctx.Err() == nil:
		s.log.Error(err, "Failed to carry out a user's request, retrying", "action", action)
		pause(ctx, woken)
	}
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

// done records the result of an action on a running instance. An action that a user requested
// meanwhile stays pending.
func done(record *store.Instance, action Power) {
	switch action {
	case PowerStop, PowerReboot:
		ended(record, stoppedByUser)
		return
	case PowerFreeze:
		record.Message = frozenByUser
	case PowerThaw, PowerStart:
		record.Message = ""
	}
	if record.Switch == string(action) {
		record.Switch = ""
	}
}

// ended records that the processes of an instance have ended. The instance stays stopped unless the
// pending action is a reboot.
func ended(record *store.Instance, message string) {
	reboots := record.Switch == string(PowerReboot)
	record.Switch = ""
	if reboots {
		startAgain(record)
		return
	}
	record.State, record.Message, record.Strikes = cloud.InstanceStopped, message, nil
}
