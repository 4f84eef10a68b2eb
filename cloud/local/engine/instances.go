// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// EnsureInstance creates an instance; see cloud.Instances. Everything that was asked for is
// immutable.
func (t *Tenant) EnsureInstance(_ context.Context, spec cloud.InstanceSpec) (cloud.Instance, error) {
	var result cloud.Instance
	var refused error
	err := t.engine.update(func(c *change) error {
		record, err := c.InstanceByName(t.name, spec.Name)
		if err != nil {
			return err
		}
		if record != nil {
			result = record.Instance
			return rules.SameInstance(record.Instance, spec)
		}
		offered, err := t.engine.offered()
		if err = cmp.Or(err, offered.Instance(spec)); err != nil {
			return err
		}
		record, err = t.engine.createInstance(c, t.name, spec, poolMember{})
		if cloud.IsOutOfCapacity(err) {
			// Return nil, so that the count of the rule that refused is kept.
			refused = err
			return nil
		}
		if err != nil {
			return err
		}
		result = record.Instance
		return nil
	})
	if err = cmp.Or(err, refused); err != nil {
		return cloud.Instance{}, err
	}
	return result, nil
}

// poolMember identifies the pool that an instance belongs to, if any.
type poolMember struct {
	pool, revision string
	// zones of the pool, and how its instances are spread over them.
	zones  []string
	spread rules.Spread
}

// createInstance stores a new instance, which its supervisor then starts. The spec must already be
// validated.
func (e *Engine) createInstance(c *change, tenant string, spec cloud.InstanceSpec, member poolMember) (*store.Instance, error) {
	kind, err := e.catalog.InstanceType("type", spec.Type)
	if err != nil {
		return nil, err
	}
	used, err := c.resources(tenant)
	if err != nil {
		return nil, err
	}
	want := cloud.Resources{Instances: 1, CPUs: kind.CPUs, MemoryBytes: kind.MemoryBytes}
	if err := rules.CheckQuota(cloud.Quota{Limits: e.options.Limits[tenant], Used: *used}, want); err != nil {
		return nil, err
	}
	zone, err := e.placeInstance(c, tenant, spec, member)
	if err != nil {
		return nil, err
	}
	id, err := c.NewID()
	if err != nil {
		return nil, err
	}
	address, err := c.NewAddress(e.options.Network, id)
	if err != nil {
		return nil, err
	}
	if err := c.PutUserData(id, spec.UserData); err != nil {
		return nil, err
	}
	record := &store.Instance{
		Instance: cloud.Instance{
			ID: id, Name: spec.Name, Hostname: spec.Hostname, Zone: zone, ProviderID: cloud.ProviderID(zone, id),
			Type: spec.Type, KubernetesVersion: spec.KubernetesVersion, Image: spec.Image, DiskBytes: cmp.Or(spec.DiskBytes, kind.DiskBytes), Tags: spec.Tags,
			Pool: member.pool, Revision: member.revision, Address: address,
			State: cloud.InstancePending, Bootstrap: cloud.Bootstrap{State: cloud.BootstrapPending},
			Interruptible: spec.Interruptible, CreatedAt: e.options.Now().UTC(),
		},
		Tenant: tenant, CPUs: kind.CPUs, MemoryBytes: kind.MemoryBytes,
	}
	if err := e.drawFaults(c, record); err != nil {
		return nil, err
	}
	used.Instances, used.CPUs, used.MemoryBytes = used.Instances+want.Instances, used.CPUs+want.CPUs, used.MemoryBytes+want.MemoryBytes
	return record, c.putInstance(record)
}

// placeInstance returns the zone for a new instance: the zone in the spec, or the emptiest zone of
// its pool, or the one of its zones that has the fewest instances to spread.
func (e *Engine) placeInstance(c *change, tenant string, spec cloud.InstanceSpec, member poolMember) (string, error) {
	target := fault.Target{Tenant: tenant, Pool: member.pool}
	if spec.Zone != "" {
		return e.chooseZone(c, target, []string{spec.Zone}, nil)
	}
	if member.pool != "" {
		return e.chooseZone(c, target, member.zones, member.spread)
	}
	zones, err := e.catalog.OfferedZones(spec.Zones)
	if err != nil {
		return "", err
	}
	all, err := c.Instances(tenant)
	if err != nil {
		return "", err
	}
	spread := rules.Spread{}
	for i := range all {
		if all[i].Tags.Contains(spec.Spread) {
			spread.Add(&all[i].Instance)
		}
	}
	return e.chooseZone(c, target, zones, spread)
}

// GetInstance returns an instance by its ID; see cloud.Instances.
func (t *Tenant) GetInstance(_ context.Context, id string) (cloud.Instance, error) {
	return get(t, id, t.instance, instanceView)
}

func instanceView(_ *store.Tx, record *store.Instance) (cloud.Instance, error) {
	return record.Instance, nil
}

func (t *Tenant) instance(tx *store.Tx, id string) (*store.Instance, error) {
	record, err := tx.Instance(id)
	if err != nil {
		return nil, err
	}
	if record == nil || record.Tenant != t.name {
		return nil, &cloud.NotFoundError{Kind: cloud.KindInstance, Name: id}
	}
	return record, nil
}

// ListInstances returns the instances that match the filter; see cloud.Instances.
func (t *Tenant) ListInstances(_ context.Context, filter cloud.InstanceFilter) ([]cloud.Instance, error) {
	return list(t, (*store.Tx).Instances, func(record *store.Instance) bool { return filter.Matches(record.Instance) }, instanceView)
}

// DrainInstance takes an instance out of its load balancers; see cloud.Instances.
func (t *Tenant) DrainInstance(_ context.Context, id string) error {
	return modify(t, id, t.instance, func(c *change, record *store.Instance) error {
		if record.Draining {
			return nil
		}
		record.Draining = true
		return c.putInstance(record)
	})
}

// DeleteInstance deletes an instance; see cloud.Instances.
func (t *Tenant) DeleteInstance(_ context.Context, id string) error {
	return modify(t, id, t.instance, t.engine.deleteInstance)
}

// leaving reports whether an instance is being deleted and so no longer belongs to its pool.
func leaving(record *store.Instance) bool { return record.State == cloud.InstanceDeleting }

func (e *Engine) deleteInstance(c *change, record *store.Instance) error {
	if leaving(record) {
		c.wake(instanceActor(record))
		return nil
	}
	record.State = cloud.InstanceDeleting
	record.Message = ""
	if err := c.putInstance(record); err != nil {
		return err
	}
	if record.Pool == "" {
		return nil
	}
	pool, err := c.Pool(record.Tenant, record.Pool)
	if err != nil || pool == nil {
		return err
	}
	pool.Size = max(pool.Size-1, 0)
	pool.Version++
	return c.putPool(pool)
}

// used adds up a tenant's resources. Objects being deleted count until they are gone.
func used(tx *store.Tx, tenant string) (cloud.Resources, error) {
	instances, err := tx.Instances(tenant)
	if err != nil {
		return cloud.Resources{}, err
	}
	balancers, err := tx.LoadBalancers(tenant)
	if err != nil {
		return cloud.Resources{}, err
	}
	sum := cloud.Resources{LoadBalancers: len(balancers)}
	for i := range instances {
		sum.Instances++
		sum.CPUs += instances[i].CPUs
		sum.MemoryBytes += instances[i].MemoryBytes
	}
	return sum, nil
}

func (e *Engine) quota(tx *store.Tx, tenant string) (cloud.Quota, error) {
	sum, err := used(tx, tenant)
	return cloud.Quota{Limits: e.options.Limits[tenant], Used: sum}, err
}
