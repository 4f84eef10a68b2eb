// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// EnsurePool creates a pool or changes its template; see cloud.Pools.
func (c *Cloud) EnsurePool(ctx context.Context, spec cloud.PoolSpec, version string) (cloud.Pool, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	p, exists := c.pools[spec.Name]
	p = cmp.Or(p, &pool{})
	if err := cmp.Or(c.enter(ctx, CallEnsurePool), c.catalog().Pool(spec, p.PoolSpec)); err != nil {
		return cloud.Pool{}, err
	}
	switch {
	case !exists && version != "":
		return cloud.Pool{}, &cloud.NotFoundError{Kind: cloud.KindPool, Name: spec.Name}
	case !exists:
		c.pools[spec.Name] = p
	case p.Deleting || (p.SameTemplate(spec) && p.Tags.Equal(spec.Tags) && slices.Equal(p.userData, spec.Template.UserData)):
		return c.seenPool(p), nil
	case p.Version != version:
		return cloud.Pool{}, &cloud.ConflictError{Kind: cloud.KindPool, Name: spec.Name}
	default:
		spec.Size = p.Size
	}
	p.userData = slices.Clone(spec.Template.UserData)
	p.PoolSpec = spec
	p.Template.UserData = nil
	c.changed(p)
	return c.seenPool(p), nil
}

// ScalePool changes the size of a pool; see cloud.Pools.
func (c *Cloud) ScalePool(ctx context.Context, name string, size int32, version string) (cloud.Pool, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallScalePool); err != nil {
		return cloud.Pool{}, err
	}
	p, ok := c.pools[name]
	switch {
	case !ok:
		return cloud.Pool{}, &cloud.NotFoundError{Kind: cloud.KindPool, Name: name}
	case p.Deleting || p.Size == size:
		return c.seenPool(p), nil
	case p.Version != version:
		return cloud.Pool{}, &cloud.ConflictError{Kind: cloud.KindPool, Name: name}
	}
	if err := rules.Shrink(size, c.countOf(name)); err != nil {
		return cloud.Pool{}, err
	}
	p.Size = size
	c.changed(p)
	return c.seenPool(p), nil
}

// changed gives a pool its next version and creates its missing instances. Callers must hold the
// lock.
func (c *Cloud) changed(p *pool) {
	c.next++
	p.Version = strconv.Itoa(c.next)
	c.grow(p)
	c.emitPool(p)
}

// grow creates instances until the pool reaches its size, spread over the zones. It counts the
// existing instances only once. Callers must hold the lock.
func (c *Cloud) grow(p *pool) {
	p.Problem = nil
	zones, err := c.catalog().OfferedZones(p.Zones)
	if err != nil {
		p.Problem = cloud.ProblemOf(err)
		return
	}
	spread := c.spread(cloud.InstanceFilter{Pool: p.Name})
	template := p.Template
	template.UserData = p.userData
	for have := c.countOf(p.Name); have < p.Size && !p.Deleting; have++ {
		c.next++
		suffix := fmt.Sprintf("x%04d", c.next)
		i, err := c.create(cloud.InstanceSpec{
			Name: p.Name + "-" + suffix, Hostname: p.HostnamePrefix + "-" + suffix, Zone: spread.Emptiest(zones),
			InstanceTemplate: template,
		}, p)
		if err != nil {
			p.Problem = cloud.ProblemOf(err)
			return
		}
		spread.Add(&i.Instance)
	}
}

// countOf returns the number of instances in a pool, excluding instances being deleted. Callers
// must hold the lock.
func (c *Cloud) countOf(name string) int32 {
	var count int32
	for _, i := range c.instances {
		if i.Pool == name && i.State != cloud.InstanceDeleting {
			count++
		}
	}
	return count
}

// GetPool returns one pool; see cloud.Pools.
func (c *Cloud) GetPool(ctx context.Context, name string) (cloud.Pool, error) {
	return answer(ctx, c, CallGetPool, func() (cloud.Pool, error) { return get(c.pools, cloud.KindPool, name, c.seenPool) })
}

// ListPools lists pools; see cloud.Pools.
func (c *Cloud) ListPools(ctx context.Context, tags cloud.Tags) ([]cloud.Pool, error) {
	return answer(ctx, c, CallListPools, func() ([]cloud.Pool, error) {
		return list(c.pools, func(p *pool) bool { return p.Tags.Contains(tags) }, c.seenPool), nil
	})
}

// DeletePool deletes a pool with its instances; see cloud.Pools.
func (c *Cloud) DeletePool(ctx context.Context, name string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallDeletePool); err != nil {
		return err
	}
	left := c.deleteMembers(name)
	p, err := find(c.pools, cloud.KindPool, name)
	if err != nil && left { // only the pool itself was lost
		return nil
	}
	if err != nil {
		return err
	}
	instant := c.options.Mode == Instant
	changes := instant || !p.Deleting
	p.Deleting, p.Size = true, 0
	if instant {
		delete(c.pools, name)
	}
	if changes {
		c.emitPool(p)
	}
	return nil
}

// deleteMembers deletes the instances of a pool, and reports whether there were any. Callers must hold the
// lock.
func (c *Cloud) deleteMembers(pool string) (left bool) {
	instant := c.options.Mode == Instant
	for id, i := range c.instances {
		if i.Pool != pool {
			continue
		}
		left = true
		changes := instant || i.State != cloud.InstanceDeleting
		i.State = cloud.InstanceDeleting
		if instant {
			c.remove(id)
		}
		if changes {
			c.emitInstance(i)
		}
	}
	return left
}

// LosePool removes a pool that nobody asked to delete, but not its instances. It reports false if no
// pool has the name.
func (c *Cloud) LosePool(name string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	p, ok := c.pools[name]
	if ok {
		delete(c.pools, name)
		c.emitPool(p)
	}
	return ok
}

// PoolUserData returns the user data of a pool's template. It reports false if no pool has the
// name.
func (c *Cloud) PoolUserData(name string) ([]byte, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	p, ok := c.pools[name]
	if !ok {
		return nil, false
	}
	return slices.Clone(p.userData), true
}

// GrowPools makes every pool retry to reach its size, as a real cloud does from time to time.
func (c *Cloud) GrowPools() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, p := range c.pools {
		c.grow(p)
		c.emitPool(p)
	}
}

// seenPool returns a pool as callers see it. Callers must hold the lock.
func (c *Cloud) seenPool(p *pool) cloud.Pool {
	seen := p.Pool
	seen.Tags, seen.Zones, seen.Template.Tags = maps.Clone(p.Tags), slices.Clone(p.Zones), maps.Clone(p.Template.Tags)
	seen.Instances = c.countOf(p.Name)
	if p.Problem != nil {
		problem := *p.Problem
		seen.Problem = &problem
	}
	return seen
}

// InstanceNames returns the names of all instances, sorted.
func (c *Cloud) InstanceNames() []string {
	c.lock.Lock()
	defer c.lock.Unlock()
	names := make([]string, 0, len(c.instances))
	for _, i := range c.instances {
		names = append(names, i.Name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
