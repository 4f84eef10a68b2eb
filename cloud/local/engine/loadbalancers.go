// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// EnsureLoadBalancer creates or updates a load balancer; see cloud.LoadBalancers.
func (t *Tenant) EnsureLoadBalancer(_ context.Context, spec cloud.LoadBalancerSpec) (cloud.LoadBalancer, error) {
	var result cloud.LoadBalancer
	err := t.engine.update(func(c *change) error {
		if err := rules.LoadBalancer(spec); err != nil {
			return err
		}
		record, err := t.ensureBalancer(c, spec)
		if err != nil {
			return err
		}
		result, err = balancerView(c.Tx, record)
		return err
	})
	if err != nil {
		return cloud.LoadBalancer{}, err
	}
	return result, nil
}

func (t *Tenant) ensureBalancer(c *change, spec cloud.LoadBalancerSpec) (*store.LoadBalancer, error) {
	record, err := c.LoadBalancer(t.name, spec.Name)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return t.engine.createBalancer(c, t.name, spec)
	}
	if record.Deleting {
		return nil, &cloud.UnavailableError{Message: "load balancer " + spec.Name + " is being deleted"}
	}
	if err := rules.Immutable("port", strconv.Itoa(int(record.Port)), strconv.Itoa(int(spec.Port))); err != nil {
		return nil, err
	}
	if record.Selector.Equal(spec.Selector) && record.Tags.Equal(spec.Tags) {
		return record, nil
	}
	spec.TargetPort = record.TargetPort
	record.LoadBalancerSpec = spec
	return record, c.putBalancer(record)
}

func (e *Engine) createBalancer(c *change, tenant string, spec cloud.LoadBalancerSpec) (*store.LoadBalancer, error) {
	quota, err := e.quota(c.Tx, tenant)
	if err != nil {
		return nil, err
	}
	if err := rules.CheckQuota(quota, cloud.Resources{LoadBalancers: 1}); err != nil {
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
	record := &store.LoadBalancer{
		LoadBalancerSpec: spec, ID: id, Tenant: tenant, Address: address, Message: "the load balancer is being created",
	}
	return record, c.putBalancer(record)
}

// GetLoadBalancer returns a load balancer; see cloud.LoadBalancers.
func (t *Tenant) GetLoadBalancer(_ context.Context, name string) (cloud.LoadBalancer, error) {
	return get(t, name, t.balancer, balancerView)
}

func (t *Tenant) balancer(tx *store.Tx, name string) (*store.LoadBalancer, error) {
	record, err := tx.LoadBalancer(t.name, name)
	if err == nil && record == nil {
		err = &cloud.NotFoundError{Kind: cloud.KindLoadBalancer, Name: name}
	}
	return record, err
}

// ListLoadBalancers returns the load balancers that carry the tags; see cloud.LoadBalancers.
func (t *Tenant) ListLoadBalancers(_ context.Context, tags cloud.Tags) ([]cloud.LoadBalancer, error) {
	return list(t, (*store.Tx).LoadBalancers, func(record *store.LoadBalancer) bool { return record.Tags.Contains(tags) }, balancerView)
}

// DeleteLoadBalancer deletes a load balancer; see cloud.LoadBalancers.
func (t *Tenant) DeleteLoadBalancer(_ context.Context, name string) error {
	return modify(t, name, t.balancer, t.engine.deleteBalancer)
}

func (e *Engine) deleteBalancer(c *change, record *store.LoadBalancer) error {
	if record.Deleting {
		c.wake(balancerActor(record))
		return nil
	}
	record.Deleting = true
	record.Ready = false
	record.Message = "the load balancer is being deleted"
	return c.putBalancer(record)
}

// backends returns the tenant's running instances that match the selector, sorted by ID.
func backends(tx *store.Tx, record *store.LoadBalancer) ([]cloud.Backend, error) {
	instances, err := tx.Instances(record.Tenant)
	if err != nil {
		return nil, err
	}
	var list []cloud.Backend
	for i := range instances {
		if instances[i].State == cloud.InstanceRunning && instances[i].Tags.Contains(record.Selector) {
			list = append(list, cloud.Backend{
				InstanceID: instances[i].ID, Address: instances[i].Address, Draining: instances[i].Draining,
			})
		}
	}
	slices.SortFunc(list, func(a, b cloud.Backend) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	return list, nil
}

func balancerView(tx *store.Tx, record *store.LoadBalancer) (cloud.LoadBalancer, error) {
	backends, err := backends(tx, record)
	return cloud.LoadBalancer{
		LoadBalancerSpec: record.LoadBalancerSpec, Address: record.Address, Ready: record.Ready,
		Backends: backends, Message: record.Message,
	}, err
}
