// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// EnsureLoadBalancer creates or updates a load balancer; see cloud.LoadBalancers.
func (c *Cloud) EnsureLoadBalancer(ctx context.Context, spec cloud.LoadBalancerSpec) (cloud.LoadBalancer, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallEnsureLoadBalancer); err != nil {
		return cloud.LoadBalancer{}, err
	}
	if err := rules.LoadBalancer(spec); err != nil {
		return cloud.LoadBalancer{}, err
	}
	if lb, ok := c.loadBalancers[spec.Name]; ok {
		return c.updateLoadBalancer(lb, spec)
	}
	if err := rules.CheckQuota(c.quota(), cloud.Resources{LoadBalancers: 1}); err != nil {
		return cloud.LoadBalancer{}, err
	}
	lb := &loadBalancer{LoadBalancer: cloud.LoadBalancer{LoadBalancerSpec: spec, Ready: c.options.Mode == Instant && !c.options.LateAddresses}}
	if !c.options.LateAddresses {
		lb.Address = c.nextAddress()
	}
	if !lb.Ready {
		lb.Message = "the load balancer is starting"
	}
	c.loadBalancers[spec.Name] = lb
	c.emitLoadBalancer(lb)
	return c.seenLoadBalancer(lb), nil
}

func (c *Cloud) updateLoadBalancer(lb *loadBalancer, spec cloud.LoadBalancerSpec) (cloud.LoadBalancer, error) {
	if err := rules.Immutable("port", strconv.Itoa(int(lb.Port)), strconv.Itoa(int(spec.Port))); err != nil {
		return cloud.LoadBalancer{}, err
	}
	if !lb.Selector.Equal(spec.Selector) || !lb.Tags.Equal(spec.Tags) {
		lb.Selector, lb.Tags = maps.Clone(spec.Selector), maps.Clone(spec.Tags)
		c.emitLoadBalancer(lb)
	}
	return c.seenLoadBalancer(lb), nil
}

// GetLoadBalancer returns one load balancer; see cloud.LoadBalancers.
func (c *Cloud) GetLoadBalancer(ctx context.Context, name string) (cloud.LoadBalancer, error) {
	return answer(ctx, c, CallGetLoadBalancer, func() (cloud.LoadBalancer, error) {
		return get(c.loadBalancers, cloud.KindLoadBalancer, name, c.seenLoadBalancer)
	})
}

// ListLoadBalancers lists load balancers; see cloud.LoadBalancers.
func (c *Cloud) ListLoadBalancers(ctx context.Context, tags cloud.Tags) ([]cloud.LoadBalancer, error) {
	return answer(ctx, c, CallListLoadBalancers, func() ([]cloud.LoadBalancer, error) {
		return list(c.loadBalancers, func(lb *loadBalancer) bool { return lb.Tags.Contains(tags) }, c.seenLoadBalancer), nil
	})
}

// DeleteLoadBalancer deletes a load balancer; see cloud.LoadBalancers.
func (c *Cloud) DeleteLoadBalancer(ctx context.Context, name string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallDeleteLoadBalancer); err != nil {
		return err
	}
	lb, err := find(c.loadBalancers, cloud.KindLoadBalancer, name)
	if err != nil {
		return err
	}
	if c.options.Mode == Manual {
		lb.deleting, lb.Ready, lb.Message = true, false, "the load balancer is being deleted"
		return nil
	}
	delete(c.loadBalancers, name)
	c.emitLoadBalancer(lb)
	return nil
}

// AssignAddress gives a load balancer its address and makes it ready. It reports false if no load
// balancer has the name, or if it has an address already.
func (c *Cloud) AssignAddress(name string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	lb, ok := c.loadBalancers[name]
	if !ok || lb.Address != "" {
		return false
	}
	lb.Address, lb.Ready, lb.Message = c.nextAddress(), true, ""
	c.emitLoadBalancer(lb)
	return true
}

// SetLoadBalancerReady makes a load balancer ready. It reports false if no load balancer has the
// name.
func (c *Cloud) SetLoadBalancerReady(name string) bool {
	return c.changeLoadBalancer(name, func(lb *loadBalancer) { lb.Ready, lb.Message = true, "" })
}

// SetLoadBalancerFailed makes a load balancer not ready. It reports false if no load balancer has
// the name.
func (c *Cloud) SetLoadBalancerFailed(name, message string) bool {
	return c.changeLoadBalancer(name, func(lb *loadBalancer) { lb.Ready, lb.Message = false, message })
}

// LoseLoadBalancer removes a load balancer that nobody asked to delete. It reports false if no load
// balancer has the name.
func (c *Cloud) LoseLoadBalancer(name string) bool {
	return c.changeLoadBalancer(name, func(lb *loadBalancer) { delete(c.loadBalancers, lb.Name) })
}

func (c *Cloud) changeLoadBalancer(name string, change func(lb *loadBalancer)) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	lb, ok := c.loadBalancers[name]
	if !ok {
		return false
	}
	change(lb)
	c.emitLoadBalancer(lb)
	return true
}

// seenLoadBalancer returns a load balancer as callers see it. Callers must hold the lock.
func (c *Cloud) seenLoadBalancer(lb *loadBalancer) cloud.LoadBalancer {
	seen := lb.LoadBalancer
	seen.Tags, seen.Selector, seen.Backends = maps.Clone(lb.Tags), maps.Clone(lb.Selector), nil
	for _, i := range c.instances {
		if i.Address != "" && !i.State.Terminal() && i.Tags.Contains(lb.Selector) {
			seen.Backends = append(seen.Backends, cloud.Backend{InstanceID: i.ID, Address: i.Address, Draining: i.Draining})
		}
	}
	slices.SortFunc(seen.Backends, func(a, b cloud.Backend) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	return seen
}
