// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
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

// Fail makes every call of this method fail with err until Heal.
func (c *Cloud) Fail(call Call, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.faults[call] = err
}

// Heal makes calls of this method succeed again.
func (c *Cloud) Heal(call Call) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.faults, call)
}

// RefuseInstances makes every order of an instance fail with err, including orders by pools; nil
// ends that. Call GrowPools to make the pools try again.
func (c *Cloud) RefuseInstances(err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.refusal = err
}

// Calls returns how often a method was called, including failed calls.
func (c *Cloud) Calls(call Call) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.calls[call]
}

// SetMode changes the mode for later operations.
func (c *Cloud) SetMode(mode Mode) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.options.Mode = mode
}

// SetLateAddresses decides whether load balancers that are created later have to wait for their
// address.
func (c *Cloud) SetLateAddresses(late bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.options.LateAddresses = late
}

// SetLimits changes the quota of the tenant.
func (c *Cloud) SetLimits(limits cloud.Resources) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.options.Limits = limits
}

// SetImages changes the images on offer.
func (c *Cloud) SetImages(images []cloud.Image) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.options.Images = images
}

// enter counts a call and returns the error that it must fail with. Callers must hold the lock.
func (c *Cloud) enter(ctx context.Context, call Call) error {
	c.calls[call]++
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.faults[call]
}
