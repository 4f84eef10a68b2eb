// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// EnsureInstance creates an instance; see cloud.Instances.
func (c *Cloud) EnsureInstance(ctx context.Context, spec cloud.InstanceSpec) (cloud.Instance, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallEnsureInstance); err != nil {
		return cloud.Instance{}, err
	}
	if i, ok := c.instances[c.ids[spec.Name]]; ok {
		return seenInstance(i), rules.SameInstance(i.Instance, spec)
	}
	i, err := c.create(spec, nil)
	if err != nil {
		return cloud.Instance{}, err
	}
	return seenInstance(i), nil
}

// create adds an instance, standalone or for a pool. Callers must hold the lock.
func (c *Cloud) create(spec cloud.InstanceSpec, of *pool) (*instance, error) {
	if err := c.catalog().Instance(spec); err != nil {
		return nil, err
	}
	size, err := c.catalog().InstanceType("type", spec.Type)
	if err != nil {
		return nil, err
	}
	want := cloud.Resources{Instances: 1, CPUs: size.CPUs, MemoryBytes: size.MemoryBytes}
	if err := cmp.Or(rules.CheckQuota(c.quota(), want), c.refusal); err != nil {
		return nil, err
	}
	if spec.Zone == "" {
		zones, err := c.catalog().OfferedZones(spec.Zones)
		if err != nil {
			return nil, err
		}
		spec.Zone = c.spread(cloud.InstanceFilter{Tags: spec.Spread}).Emptiest(zones)
	}
	id := c.nextID()
	i := &instance{userData: slices.Clone(spec.UserData), Instance: cloud.Instance{
		ID: id, Name: spec.Name, Hostname: spec.Hostname, Zone: spec.Zone, ProviderID: cloud.ProviderID(spec.Zone, id),
		Type: spec.Type, KubernetesVersion: spec.KubernetesVersion, Image: spec.Image, DiskBytes: cmp.Or(spec.DiskBytes, size.DiskBytes), Tags: maps.Clone(spec.Tags),
		State: cloud.InstancePending, Bootstrap: cloud.Bootstrap{State: cloud.BootstrapPending}, CreatedAt: time.Now(),
		Interruptible: spec.Interruptible,
	}}
	if of != nil {
		i.Pool, i.Revision = of.Name, of.Revision
	}
	if c.options.Mode == Instant {
		i.Address, i.State = c.nextAddress(), cloud.InstanceRunning
	}
	c.instances[id], c.ids[i.Name] = i, id
	c.emitInstance(i)
	return i, nil
}

// GetInstance returns one instance; see cloud.Instances.
func (c *Cloud) GetInstance(ctx context.Context, id string) (cloud.Instance, error) {
	return answer(ctx, c, CallGetInstance, func() (cloud.Instance, error) { return get(c.instances, cloud.KindInstance, id, seenInstance) })
}

// ListInstances lists instances; see cloud.Instances.
func (c *Cloud) ListInstances(ctx context.Context, filter cloud.InstanceFilter) ([]cloud.Instance, error) {
	return answer(ctx, c, CallListInstances, func() ([]cloud.Instance, error) {
		found := list(c.instances, func(i *instance) bool { return filter.Matches(i.Instance) }, seenInstance)
		slices.SortFunc(found, func(a, b cloud.Instance) int { return strings.Compare(a.Name, b.Name) })
		return found, nil
	})
}

// DrainInstance takes an instance out of its load balancers; see cloud.Instances.
func (c *Cloud) DrainInstance(ctx context.Context, id string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallDrainInstance); err != nil {
		return err
	}
	i, err := find(c.instances, cloud.KindInstance, id)
	if err != nil {
		return err
	}
	if !i.Draining {
		i.Draining = true
		c.emitInstance(i)
	}
	return nil
}

// DeleteInstance deletes an instance; see cloud.Instances.
func (c *Cloud) DeleteInstance(ctx context.Context, id string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallDeleteInstance); err != nil {
		return err
	}
	i, err := find(c.instances, cloud.KindInstance, id)
	if err != nil {
		return err
	}
	if i.State == cloud.InstanceDeleting {
		return nil
	}
	i.State = cloud.InstanceDeleting
	if p, ok := c.pools[i.Pool]; ok && p.Size > 0 {
		p.Size--
		c.next++
		p.Version = strconv.Itoa(c.next)
		c.emitPool(p)
	}
	if c.options.Mode == Instant {
		c.remove(id)
	}
	c.emitInstance(i)
	return nil
}

// UserData returns the user data that an instance was created with. It reports false if no instance
// has the name.
func (c *Cloud) UserData(name string) ([]byte, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if i, ok := c.instances[c.ids[name]]; ok {
		return slices.Clone(i.userData), true
	}
	return nil, false
}

// RunInstance gives an instance an address and makes it run. It reports false if no instance has
// the name.
func (c *Cloud) RunInstance(name string) bool {
	return c.ChangeInstance(name, func(i *cloud.Instance) {
		i.State = cloud.InstanceRunning
		if i.Address == "" {
			i.Address = c.nextAddress()
		}
	})
}

// SetBootstrap sets the bootstrap state that an instance reports. It reports false if no instance
// has the name.
func (c *Cloud) SetBootstrap(name string, bootstrap cloud.Bootstrap) bool {
	return c.ChangeInstance(name, func(i *cloud.Instance) { i.Bootstrap = bootstrap })
}

// StopInstance makes an instance stop by itself. It reports false if no instance has the name.
func (c *Cloud) StopInstance(name, message string) bool {
	return c.ChangeInstance(name, func(i *cloud.Instance) { i.State, i.Message = cloud.InstanceStopped, message })
}

// LoseInstance removes an instance that nobody asked to delete, or finishes its deletion. It
// reports false if no instance has the name.
func (c *Cloud) LoseInstance(name string) bool {
	return c.ChangeInstance(name, func(i *cloud.Instance) { c.remove(i.ID) })
}

// ReclaimInstance gives notice that an interruptible instance will be reclaimed; call LoseInstance
// to reclaim it. It reports false if no interruptible instance has the name.
func (c *Cloud) ReclaimInstance(name string, at time.Time) bool {
	interruptible := false
	found := c.ChangeInstance(name, func(i *cloud.Instance) {
		if interruptible = i.Interruptible; interruptible {
			i.ReclaimAt = &at
		}
	})
	return found && interruptible
}

// FinishDeletions finishes all pending deletions of instances, load balancers and pools.
func (c *Cloud) FinishDeletions() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for id, i := range c.instances {
		if i.State == cloud.InstanceDeleting {
			c.remove(id)
			c.emitInstance(i)
		}
	}
	for name, lb := range c.loadBalancers {
		if lb.deleting {
			delete(c.loadBalancers, name)
			c.emitLoadBalancer(lb)
		}
	}
	for name, p := range c.pools {
		if p.Deleting {
			delete(c.pools, name)
			c.emitPool(p)
		}
	}
}

// ChangeInstance changes an instance and sends an event. The function must not call the cloud. It
// reports false if no instance has the name.
func (c *Cloud) ChangeInstance(name string, change func(i *cloud.Instance)) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	i, ok := c.instances[c.ids[name]]
	if !ok {
		return false
	}
	change(&i.Instance)
	c.emitInstance(i)
	return true
}

// remove deletes an instance from the maps. Callers must hold the lock.
func (c *Cloud) remove(id string) {
	if i, ok := c.instances[id]; ok && c.ids[i.Name] == id {
		delete(c.ids, i.Name)
	}
	delete(c.instances, id)
}

func seenInstance(i *instance) cloud.Instance {
	seen := i.Instance
	seen.Tags = maps.Clone(i.Tags)
	return seen
}
