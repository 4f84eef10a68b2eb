// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// Call names a method of the cloud interface.
type Call string

// The methods of the cloud interface.
const (
	CallZones              Call = "Zones"
	CallInstanceTypes      Call = "InstanceTypes"
	CallImages             Call = "Images"
	CallQuota              Call = "Quota"
	CallEnsureLoadBalancer Call = "EnsureLoadBalancer"
	CallGetLoadBalancer    Call = "GetLoadBalancer"
	CallListLoadBalancers  Call = "ListLoadBalancers"
	CallDeleteLoadBalancer Call = "DeleteLoadBalancer"
	CallEnsureInstance     Call = "EnsureInstance"
	CallGetInstance        Call = "GetInstance"
	CallListInstances      Call = "ListInstances"
	CallDrainInstance      Call = "DrainInstance"
	CallDeleteInstance     Call = "DeleteInstance"
	CallEnsurePool         Call = "EnsurePool"
	CallScalePool          Call = "ScalePool"
	CallGetPool            Call = "GetPool"
	CallListPools          Call = "ListPools"
	CallDeletePool         Call = "DeletePool"
	CallWatch              Call = "Watch"
)

type fault struct {
	err   error
	times int
}

// Fail makes every call fail with err, until Heal.
func (c *Cloud) Fail(call Call, err error) { c.FailTimes(call, err, -1) }

// FailTimes makes the next calls, that many of them, fail with err; a negative number means all, until Heal.
func (c *Cloud) FailTimes(call Call, err error, times int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.faults[call] = append(c.faults[call], fault{err: err, times: times})
}

// Heal ends what Fail and FailTimes began for a call.
func (c *Cloud) Heal(call Call) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.faults, call)
}

// RefuseInstances makes every order of an instance fail with err, also those that pools make by themselves; nil ends that. Pools
// try again with GrowPools.
func (c *Cloud) RefuseInstances(err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.refusal = err
}

// Calls returns how often a method was called, those that failed included.
func (c *Cloud) Calls(call Call) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.calls[call]
}

// SetMode changes when things are over from now on.
func (c *Cloud) SetMode(mode Mode) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.options.Mode = mode
}

// SetLimits changes the quota of the tenant.
func (c *Cloud) SetLimits(limits cloud.Resources) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.options.Limits = limits
}

// enter counts a call and returns the error that it is to fail with. Callers hold the lock.
func (c *Cloud) enter(ctx context.Context, call Call) error {
	c.calls[call]++
	if err := ctx.Err(); err != nil {
		return err
	}
	faults := c.faults[call]
	if len(faults) == 0 {
		return nil
	}
	first := &faults[0]
	err := first.err
	if first.times > 0 {
		first.times--
	}
	if first.times == 0 {
		c.faults[call] = faults[1:]
	}
	return err
}
