// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const suffixLength = 5

// EnsurePool creates a pool or changes its template; see cloud.Pools.
func (t *Tenant) EnsurePool(_ context.Context, spec cloud.PoolSpec, version string) (cloud.Pool, error) {
	return t.changePool(spec.Name, version, func(_ *change, record, found *store.Pool) error {
		offered, err := t.engine.offered()
		if err = cmp.Or(err, offered.Pool(spec, record.PoolSpec)); err != nil {
			return err
		}
		if found != nil {
			spec.Size = found.Size
		}
		record.PoolSpec = spec
		return nil
	})
}

// ScalePool changes the size of a pool; see cloud.Pools.
func (t *Tenant) ScalePool(_ context.Context, name string, size int32, version string) (cloud.Pool, error) {
	if err := rules.Size(size); err != nil {
		return cloud.Pool{}, err
	}
	return t.changePool(name, version, func(c *change, record, found *store.Pool) error {
		if found == nil {
			return &cloud.NotFoundError{Kind: cloud.KindPool, Name: name}
		}
		members, err := members(c.Tx, t.name, name)
		if err != nil {
			return err
		}
		record.Size = size
		return rules.Shrink(size, int32(len(members)))
	})
}

// changePool changes a pool that has the given version, and fills it. The apply function gets a new
// record and the found one, which is nil for a new pool. A change without effect needs no version.
func (t *Tenant) changePool(name, version string, apply func(c *change, record, found *store.Pool) error) (cloud.Pool, error) {
	var result cloud.Pool
	err := t.engine.update(func(c *change) error {
		found, err := c.Pool(t.name, name)
		if err != nil {
			return err
		}
		record := &store.Pool{Tenant: t.name}
		if found != nil {
			*record = *found
		}
		if !record.Deleting {
			if err := apply(c, record, found); err != nil {
				return err
			}
		}
		if found == nil || !equalSpecs(found.PoolSpec, record.PoolSpec) {
			if err := checkVersion(found, name, version); err != nil {
				return err
			}
			// A deleted pool of the same name must have had other versions.
			record.Version = max(record.Version+1, t.engine.options.Now().UnixNano())
			if err := c.putPool(record); err != nil {
				return err
			}
			if err := t.engine.fill(c, record); err != nil {
				return err
			}
		}
		result, err = poolView(c.Tx, record)
		return err
	})
	if err != nil {
		return cloud.Pool{}, err
	}
	return result, nil
}

// checkVersion refuses a change if the caller has seen another version of the pool, or none.
func checkVersion(found *store.Pool, name, version string) error {
	switch {
	case found == nil && version != "":
		return &cloud.NotFoundError{Kind: cloud.KindPool, Name: name}
	case found != nil && versionOf(found) != version:
		return &cloud.ConflictError{Kind: cloud.KindPool, Name: name}
	default:
		return nil
	}
}

func versionOf(record *store.Pool) string { return strconv.FormatInt(record.Version, 10) }

func equalSpecs(a, b cloud.PoolSpec) bool {
	return a.Name == b.Name && a.HostnamePrefix == b.HostnamePrefix && a.Size == b.Size && a.Tags.Equal(b.Tags) &&
		a.SameTemplate(b) && bytes.Equal(a.Template.UserData, b.Template.UserData)
}

// members returns the instances of a pool, excluding instances being deleted.
func members(tx *store.Tx, tenant, pool string) ([]store.Instance, error) {
	records, err := tx.Instances(tenant)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(i store.Instance) bool { return i.Pool != pool || leaving(&i) }), nil
}

// fill creates the missing instances of a pool in the transaction that found them missing.
// Most of what may change the outcome (a deleted instance, a new limit) calls fill again, so only
// failures by chance and missing images need a later retry.
func (e *Engine) fill(c *change, record *store.Pool) error {
	if record.Deleting {
		return nil
	}
	have, err := members(c.Tx, record.Tenant, record.Name)
	if err != nil {
		return err
	}
	c.retry = 0
	err = e.createMembers(c, record, have)
	problem := cloud.ProblemOf(err)
	if problem != nil && problem.Reason == cloud.ReasonUnknown {
		return err
	}
	if problem != nil && c.retry > 0 {
		c.refill[poolKey{record.Tenant, record.Name}] = c.retry
	}
	if ptr.Equal(record.Problem, problem) {
		return nil
	}
	record.Problem = problem
	return c.putPool(record)
}

// createMembers creates instances beside those that the pool has, up to its size.
func (e *Engine) createMembers(c *change, record *store.Pool, have []store.Instance) error {
	missing := int(record.Size) - len(have)
	if missing <= 0 {
		return nil
	}
	// Without a token, nobody could delete what is created for a tenant that was removed.
	if _, ok := e.options.Limits[record.Tenant]; !ok && e.options.Limits != nil {
		return &cloud.UnauthorizedError{Message: fmt.Sprintf("the cloud's configuration has no tenant %q", record.Tenant)}
	}
	// The cloud may have lost zones since the pool was ordered.
	zones, err := e.catalog.OfferedZones(record.Zones)
	if err != nil {
		return err
	}
	offered, err := e.offered()
	if err != nil {
		c.retry = imagesRetry
		return err
	}
	spread := rules.Spread{}
	for i := range have {
		spread.Add(&have[i].Instance)
	}
	for range missing {
		instance, err := e.createMember(c, record, offered, poolMember{pool: record.Name, revision: record.Revision, zones: zones, spread: spread})
		if err != nil {
			return err
		}
		spread.Add(&instance.Instance)
	}
	return nil
}

func (e *Engine) createMember(c *change, record *store.Pool, offered rules.Catalog, member poolMember) (*store.Instance, error) {
	suffix, err := freeSuffix(c.Tx, record)
	if err != nil {
		return nil, err
	}
	spec := cloud.InstanceSpec{
		Name: record.Name + "-" + suffix, Hostname: record.HostnamePrefix + "-" + suffix, InstanceTemplate: record.Template,
	}
	if err := offered.Instance(spec); err != nil {
		c.retry = imagesRetry
		return nil, err
	}
	return e.createInstance(c, record.Tenant, spec, member)
}

func freeSuffix(tx *store.Tx, record *store.Pool) (string, error) {
	for {
		suffix := utilrand.String(suffixLength)
		taken, err := tx.InstanceByName(record.Tenant, record.Name+"-"+suffix)
		if err != nil || taken == nil {
			return suffix, err
		}
	}
}

// fillWaiting fills the pools of all tenants that could not be filled before. Call it when a
// resource becomes free.
func (e *Engine) fillWaiting(c *change) error {
	return each(c, (*store.Tx).Pools, func(c *change, record *store.Pool) error {
		if record.Problem == nil {
			return nil
		}
		return e.fill(c, record)
	})
}

// GetPool returns a pool; see cloud.Pools.
func (t *Tenant) GetPool(_ context.Context, name string) (cloud.Pool, error) {
	return get(t, name, t.pool, poolView)
}

func (t *Tenant) pool(tx *store.Tx, name string) (*store.Pool, error) {
	record, err := tx.Pool(t.name, name)
	if err == nil && record == nil {
		err = &cloud.NotFoundError{Kind: cloud.KindPool, Name: name}
	}
	return record, err
}

// ListPools returns the pools that carry the tags; see cloud.Pools.
func (t *Tenant) ListPools(_ context.Context, tags cloud.Tags) ([]cloud.Pool, error) {
	return list(t, (*store.Tx).Pools, func(record *store.Pool) bool { return record.Tags.Contains(tags) }, poolView)
}

func poolView(tx *store.Tx, record *store.Pool) (cloud.Pool, error) {
	members, err := members(tx, record.Tenant, record.Name)
	if err != nil {
		return cloud.Pool{}, err
	}
	spec := record.PoolSpec
	spec.Template.UserData = nil
	return cloud.Pool{
		PoolSpec: spec, Version: versionOf(record), Instances: int32(len(members)), Problem: record.Problem, Deleting: record.Deleting,
	}, nil
}

// DeletePool deletes a pool with its instances; see cloud.Pools.
func (t *Tenant) DeletePool(_ context.Context, name string) error {
	return modify(t, name, t.pool, t.engine.deletePool)
}

func (e *Engine) deletePool(c *change, record *store.Pool) error {
	// Whoever repeats the call after each event must not get one for the call.
	if !record.Deleting {
		record.Deleting, record.Problem = true, nil
		if err := c.putPool(record); err != nil {
			return err
		}
	}
	instances, err := c.Instances(record.Tenant)
	if err != nil {
		return err
	}
	left := 0
	for i := range instances {
		if instances[i].Pool != record.Name {
			continue
		}
		left++
		if err := e.deleteInstance(c, &instances[i]); err != nil {
			return err
		}
	}
	if left > 0 {
		return nil
	}
	return c.DeletePool(record)
}

// finishPool updates a pool after one of its instances is gone. A pool that is being deleted is
// removed after its last instance. Any other pool replaces an instance that was lost, but not one
// that was deleted, since that deletion already shrank the pool.
func (e *Engine) finishPool(c *change, gone *store.Instance) error {
	record, err := c.Pool(gone.Tenant, gone.Pool)
	if err != nil || record == nil {
		return err
	}
	c.poolChanged(record)
	switch {
	case !record.Deleting && leaving(gone):
		return nil
	case !record.Deleting:
		return e.fill(c, record)
	}
	if left, err := c.HasInstance(gone.Tenant, func(i *store.Instance) bool { return i.Pool == gone.Pool }); err != nil || left {
		return err
	}
	return c.DeletePool(record)
}
