// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// balancerSupervisor keeps the process of one load balancer running and updates its backends.
type balancerSupervisor struct {
	engine  *Engine
	tenant  string
	name    string
	id      string
	log     klog.Logger
	process Process
	// pushed are the backends last sent to the process. Before the first push, synced is false.
	pushed []cloud.Backend
	synced bool
}

func balancerActor(record *store.LoadBalancer) actorOf {
	id, name, tenant := record.ID, record.Name, record.Tenant
	return actorOf{id: id, new: func(e *Engine) func(context.Context, <-chan struct{}) {
		s := &balancerSupervisor{
			engine: e, tenant: tenant, name: name, id: id, log: e.log(tenant, "LoadBalancer", name).WithValues("id", id),
		}
		return s.run
	}}
}

func (s *balancerSupervisor) run(ctx context.Context, woken <-chan struct{}) {
	for ctx.Err() == nil {
		record, backends, err := s.load()
		if err == nil && record == nil {
			return
		}
		if err == nil {
			err = s.step(ctx, record, backends)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error(err, "Failed to bring the load balancer to its desired state, retrying")
			s.note(err)
			pause(ctx, woken)
			continue
		}
		if s.process == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-woken:
		case <-s.process.Done():
			s.log.Info("The process of the load balancer ended", "exit", s.process.Exit())
			s.process = nil
		}
	}
}

func (s *balancerSupervisor) load() (record *store.LoadBalancer, list []cloud.Backend, err error) {
	err = s.engine.view(func(tx *store.Tx) error {
		record, err = tx.LoadBalancer(s.tenant, s.name)
		if err != nil || record == nil {
			return err
		}
		// A load balancer with this name but another ID was created after this one was deleted.
		if record.ID != s.id {
			record = nil
			return nil
		}
		list, err = backends(tx, record)
		return err
	})
	return record, list, err
}

func (s *balancerSupervisor) step(ctx context.Context, record *store.LoadBalancer, backends []cloud.Backend) error {
	if record.Deleting {
		return s.remove(ctx, record)
	}
	if s.process == nil {
		if err := s.ensureProcess(ctx, record, backends); err != nil {
			return err
		}
	}
	if err := s.push(record, backends); err != nil {
		return err
	}
	if record.Ready && record.Message == "" {
		return nil
	}
	return s.store(func(now *store.LoadBalancer) { now.Ready, now.Message = true, "" })
}

// push sends the backends to the process, unless they are unchanged.
func (s *balancerSupervisor) push(record *store.LoadBalancer, backends []cloud.Backend) error {
	if s.synced && slices.Equal(s.pushed, backends) {
		return nil
	}
	if err := s.engine.options.Balancers.SetBackends(s.id, backends); err != nil {
		return err
	}
	s.pushed, s.synced = backends, true
	s.log.Info("Backends set", "count", len(backends))
	s.engine.hub.Publish(s.tenant, cloud.Event{Kind: cloud.EventLoadBalancer, Name: record.Name, Tags: record.Tags})
	return nil
}

// ensureProcess adopts the running process or starts one. It never restarts a running process,
// since that would drop the connections of all clients.
func (s *balancerSupervisor) ensureProcess(ctx context.Context, record *store.LoadBalancer, backends []cloud.Backend) error {
	if record.Process != nil {
		found, err := s.engine.options.Balancers.Find(s.id, *record.Process)
		if err == nil {
			s.process = found
			s.log.Info("Load balancer found again", "pid", record.Process.PID)
			return nil
		}
		if !errors.Is(err, process.ErrGone) {
			return err
		}
		if err := s.engine.options.Balancers.Remove(ctx, spec(record, nil), record.Process); err != nil {
			return err
		}
	}
	started, err := s.engine.options.Balancers.Start(ctx, spec(record, backends), func(identity process.Identity) error {
		return s.store(func(now *store.LoadBalancer) { now.Process = &identity })
	})
	if err != nil {
		return err
	}
	s.process, s.synced = started, false
	s.log.Info("Load balancer listens", "address", record.Address, "port", record.Port)
	return nil
}

func spec(record *store.LoadBalancer, backends []cloud.Backend) BalancerSpec {
	return BalancerSpec{
		ID: record.ID, Address: record.Address, Port: record.Port, TargetPort: cmp.Or(record.TargetPort, record.Port), Backends: backends,
	}
}

func (s *balancerSupervisor) store(fn func(*store.LoadBalancer)) error {
	return s.engine.update(func(c *change) error {
		now, err := c.LoadBalancer(s.tenant, s.name)
		if err != nil || now == nil || now.ID != s.id {
			return err
		}
		before := *now
		fn(now)
		if before.Ready == now.Ready && before.Message == now.Message {
			return c.PutLoadBalancer(now)
		}
		return c.putBalancer(now)
	})
}

// note stores why the load balancer is not in its desired state.
func (s *balancerSupervisor) note(problem error) {
	err := s.store(func(now *store.LoadBalancer) { now.Ready, now.Message = false, problem.Error() })
	if err != nil {
		s.log.Error(err, "Storing the load balancer's message failed")
	}
}

func (s *balancerSupervisor) remove(ctx context.Context, record *store.LoadBalancer) error {
	if err := s.engine.options.Balancers.Remove(ctx, spec(record, nil), record.Process); err != nil {
		return err
	}
	s.process = nil
	return s.engine.update(func(c *change) error {
		c.balancerChanged(record)
		if err := c.DeleteLoadBalancer(record); err != nil {
			return err
		}
		// An address became free.
		return s.engine.fillWaiting(c)
	})
}
