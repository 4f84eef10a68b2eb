// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"maps"
	"slices"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const kindFault = "fault rule"

// EnsureFault adds a fault rule, or replaces the rule of the same name as if that had been removed.
// An unchanged spec changes nothing. Faults of running instances strike existing instances
// immediately, and later instances once they run.
func (t *Tenant) EnsureFault(_ context.Context, reach fault.Reach, spec fault.Spec) (fault.Rule, error) {
	if spec.Tenant == "" {
		spec.Tenant = t.name
	}
	if reach != fault.ReachAll && spec.Tenant != t.name {
		return fault.Rule{}, &cloud.InvalidError{
			Field: "tenant", Value: spec.Tenant, Allowed: []string{t.name},
			Problem: "only an administrator, who calls over the unix socket, may name another tenant than the caller",
		}
	}
	spec, err := spec.Complete(t.engine.catalog.ZoneNames(), t.tenants())
	if err != nil {
		return fault.Rule{}, err
	}
	var rule *fault.Rule
	err = t.engine.update(func(c *change) error {
		have, err := c.Fault(spec.Tenant, spec.Name)
		if err != nil {
			return err
		}
		if have != nil && sameFault(have.Spec, spec) {
			rule = have
			return nil
		}
		if have != nil {
			if err := t.engine.endFault(c, have); err != nil {
				return err
			}
		}
		rule = t.engine.newRule(spec)
		return t.engine.beginFault(c, rule)
	})
	if err != nil {
		return fault.Rule{}, err
	}
	t.engine.log(spec.Tenant, "Fault", spec.Name).Info("Fault rule added", "kind", spec.Kind)
	return *rule, nil
}

// tenants returns the tenants that a rule may name.
func (t *Tenant) tenants() []string {
	names := slices.Sorted(maps.Keys(t.engine.options.Limits))
	if !slices.Contains(names, t.name) {
		names = append(names, t.name)
	}
	return names
}

// sameFault reports whether a rule is as requested. If no seed is requested, any seed is fine.
func sameFault(have, want fault.Spec) bool {
	if want.Seed == 0 {
		want.Seed = have.Seed
	}
	return have == want
}

func (e *Engine) newRule(spec fault.Spec) *fault.Rule {
	if spec.Seed == 0 {
		// Keep the seed short, so that it can be typed and survives any client's JSON.
		spec.Seed = utilrand.Int63nRange(1, 1<<31)
	}
	return &fault.Rule{Spec: spec, CreatedAt: e.options.Now().UTC()}
}

func (e *Engine) beginFault(c *change, rule *fault.Rule) error {
	if rule.Kind.Running() {
		strike := func(c *change, record *store.Instance) error { return e.strikeExisting(c, rule, record) }
		if err := each(c, (*store.Tx).Instances, strike); err != nil {
			return err
		}
	}
	return c.PutFault(rule)
}

func (e *Engine) strikeExisting(c *change, rule *fault.Rule, record *store.Instance) error {
	if record.State.Terminal() || !concerns(rule, record) || !draws(rule) {
		return nil
	}
	record.Strikes = append(record.Strikes, rule.Strike())
	if record.State == cloud.InstanceRunning {
		record.Strikes = fault.Begun(record.Strikes, e.options.Now())
	}
	// The API does not show pending strikes, so only the supervisor needs to know.
	c.wake(instanceActor(record))
	return c.PutInstance(record)
}

// concerns reports whether a rule may strike an instance.
func concerns(rule *fault.Rule, record *store.Instance) bool {
	if !rule.Matches(fault.Target{Tenant: record.Tenant, Pool: record.Pool, Zone: record.Zone}) {
		return false
	}
	return rule.Kind != fault.SpotReclaim || (record.Interruptible && record.ReclaimAt == nil)
}

// draws reports whether the rule strikes now. A zone outage always strikes, so it needs no draw.
func draws(rule *fault.Rule) bool {
	if rule.Kind != fault.ZoneOutage {
		return rule.Draw()
	}
	rule.Strikes++
	return true
}

// RemoveFault removes a fault rule and cancels its pending strikes. The effects of earlier strikes
// remain, including notices that were given.
func (t *Tenant) RemoveFault(_ context.Context, reach fault.Reach, tenant, name string) error {
	return t.engine.update(func(c *change) error {
		rule, err := t.fault(c.Tx, reach, tenant, name)
		if err != nil {
			return err
		}
		t.engine.log(rule.Tenant, "Fault", rule.Name).Info("Fault rule removed", "kind", rule.Kind)
		return t.engine.endFault(c, rule)
	})
}

func (e *Engine) endFault(c *change, rule *fault.Rule) error {
	if err := c.DeleteFault(rule); err != nil {
		return err
	}
	if err := each(c, (*store.Tx).Instances, func(c *change, record *store.Instance) error { return release(c, rule, record) }); err != nil {
		return err
	}
	// A zone or its capacity may be available again.
	return e.fillWaiting(c)
}

// release removes a deleted rule's pending strikes from an instance, and starts the instance if it
// waits for the end of the rule.
func release(c *change, rule *fault.Rule, record *store.Instance) error {
	left := fault.Without(record.Strikes, rule.Key())
	waits := record.StoppedBy == rule.Key()
	if len(left) == len(record.Strikes) && !waits {
		return nil
	}
	record.Strikes = left
	if !waits || record.State != cloud.InstanceStopped {
		c.wake(instanceActor(record))
		return c.PutInstance(record)
	}
	startAgain(record)
	return c.putInstance(record)
}

// GetFault returns a fault rule of a tenant; of the caller if tenant is empty.
func (t *Tenant) GetFault(_ context.Context, reach fault.Reach, tenant, name string) (fault.Rule, error) {
	var rule fault.Rule
	err := t.engine.view(func(tx *store.Tx) error {
		record, err := t.fault(tx, reach, tenant, name)
		if err == nil {
			rule = *record
		}
		return err
	})
	return rule, err
}

func (t *Tenant) fault(tx *store.Tx, reach fault.Reach, tenant, name string) (*fault.Rule, error) {
	if tenant == "" {
		tenant = t.name
	}
	missing := &cloud.NotFoundError{Kind: kindFault, Name: name}
	if reach != fault.ReachAll && tenant != t.name {
		return nil, missing
	}
	rule, err := tx.Fault(tenant, name)
	if err == nil && rule == nil {
		err = missing
	}
	return rule, err
}

// ListFaults returns the fault rules within reach, sorted by tenant and name.
func (t *Tenant) ListFaults(_ context.Context, reach fault.Reach) ([]fault.Rule, error) {
	tenant := t.name
	if reach == fault.ReachAll {
		tenant = ""
	}
	list := []fault.Rule{}
	err := t.engine.view(func(tx *store.Tx) error {
		rules, err := tx.Faults(tenant)
		list = append(list, rules...)
		return err
	})
	return list, err
}

// Disturbance draws what happens to a call of the tenant.
func (t *Tenant) Disturbance(context.Context) (fault.Disturbance, error) {
	var rules []fault.Rule
	var found fault.Disturbance
	if err := t.engine.view(func(tx *store.Tx) (err error) {
		rules, err = t.callFaults(tx)
		return err
	}); err != nil || len(rules) == 0 {
		// Without a rule, avoid the write transaction.
		return found, err
	}
	err := t.engine.update(func(c *change) error {
		rules, err := t.callFaults(c.Tx)
		for i := range rules {
			if rules[i].Draw() {
				rules[i].Disturb(&found)
			}
			if err := c.PutFault(&rules[i]); err != nil {
				return err
			}
		}
		return err
	})
	return found, err
}

// callFaults returns the rules that may strike calls of the tenant.
func (t *Tenant) callFaults(tx *store.Tx) ([]fault.Rule, error) {
	rules, err := tx.Faults("")
	return slices.DeleteFunc(rules, func(r fault.Rule) bool {
		return !r.Kind.Calls() || r.UsedUp() || !r.Matches(fault.Target{Tenant: t.name})
	}), err
}
