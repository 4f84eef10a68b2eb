// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"io"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// Tenant is the cloud as seen by one tenant.
type Tenant struct {
	engine *Engine
	name   string
}

var _ cloud.Cloud = &Tenant{}

// Tenant returns the cloud as seen by the named tenant.
func (e *Engine) Tenant(name string) *Tenant { return &Tenant{engine: e, name: name} }

// Watch streams the tenant's events; see cloud.Cloud.
func (t *Tenant) Watch(ctx context.Context) (<-chan cloud.Event, error) {
	return t.engine.hub.Watch(ctx, t.name), nil
}

// Zones returns the zones, sorted by name.
func (t *Tenant) Zones(context.Context) ([]cloud.Zone, error) {
	return slices.Clone(t.engine.catalog.Zones), nil
}

// InstanceTypes returns the instance types, sorted by name.
func (t *Tenant) InstanceTypes(context.Context) ([]cloud.InstanceType, error) {
	return slices.Clone(t.engine.catalog.InstanceTypes), nil
}

// Images returns the images that were built; see cloud.Catalog.
func (t *Tenant) Images(context.Context) ([]cloud.Image, error) {
	offered, err := t.engine.offered()
	return offered.Images, err
}

// offered returns what can be ordered now. The images change while the engine runs.
func (e *Engine) offered() (rules.Catalog, error) {
	now := e.catalog
	var err error
	if now.Images, err = e.options.Images(); err != nil {
		return now, &cloud.UnavailableError{Message: err.Error()}
	}
	return now, nil
}

// Quota returns the tenant's limits and current usage.
func (t *Tenant) Quota(context.Context) (cloud.Quota, error) {
	var quota cloud.Quota
	err := t.engine.view(func(tx *store.Tx) (err error) {
		quota, err = t.engine.quota(tx, t.name)
		return err
	})
	return quota, err
}

// get finds one of the tenant's records and returns it as callers see it.
func get[R, V any](t *Tenant, name string, find func(*store.Tx, string) (*R, error), view func(*store.Tx, *R) (V, error)) (V, error) {
	var result V
	err := t.engine.view(func(tx *store.Tx) error {
		record, err := find(tx, name)
		if err != nil {
			return err
		}
		result, err = view(tx, record)
		return err
	})
	return result, err
}

// list returns the tenant's matching records as callers see them.
func list[R, V any](t *Tenant, all func(*store.Tx, string) ([]R, error), matches func(*R) bool, view func(*store.Tx, *R) (V, error)) ([]V, error) {
	found := []V{}
	err := t.engine.view(func(tx *store.Tx) error {
		records, err := all(tx, t.name)
		for i := range records {
			if !matches(&records[i]) {
				continue
			}
			one, err := view(tx, &records[i])
			if err != nil {
				return err
			}
			found = append(found, one)
		}
		return err
	})
	return found, err
}

// modify finds one of the tenant's records and changes it.
func modify[R any](t *Tenant, name string, find func(*store.Tx, string) (*R, error), do func(*change, *R) error) error {
	return t.engine.update(func(c *change) error {
		record, err := find(c.Tx, name)
		if err != nil {
			return err
		}
		return do(c, record)
	})
}

// Log opens a log of an instance.
func (t *Tenant) Log(ctx context.Context, id string, log Log) (io.ReadCloser, error) {
	if !slices.Contains(logSources, log.Source) {
		allowed := make([]string, 0, len(logSources))
		for _, source := range logSources {
			allowed = append(allowed, string(source))
		}
		return nil, &cloud.InvalidError{Field: "source", Value: string(log.Source), Problem: "unknown log", Allowed: allowed}
	}
	if _, err := t.GetInstance(ctx, id); err != nil {
		return nil, err
	}
	return t.engine.options.Machines.Log(ctx, id, log)
}

// Exec runs a command in an instance; see Machines.
func (t *Tenant) Exec(ctx context.Context, id string, exec Exec) (int, error) {
	if err := t.CheckExec(ctx, id, exec.Command); err != nil {
		return 0, err
	}
	return t.engine.options.Machines.Exec(ctx, id, exec)
}

// CheckExec returns an error if the command cannot run in the instance.
func (t *Tenant) CheckExec(ctx context.Context, id string, command []string) error {
	instance, err := t.GetInstance(ctx, id)
	if err != nil {
		return err
	}
	if len(command) == 0 || command[0] == "" {
		return &cloud.InvalidError{Field: "command", Problem: "is empty; name a program"}
	}
	if instance.State != cloud.InstanceRunning {
		return &cloud.InvalidError{
			Field: "id", Value: id, Problem: "the instance is " + string(instance.State) + "; commands need one that is " + string(cloud.InstanceRunning),
		}
	}
	frozen, err := t.engine.options.Machines.Frozen(id)
	if err != nil {
		return err
	}
	if frozen {
		return &cloud.InvalidError{Field: "id", Value: id, Problem: "the instance is frozen; thaw it first"}
	}
	return nil
}
