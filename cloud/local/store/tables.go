// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// errFound ends a scan early.
var errFound = errors.New("found")

// Instance returns an instance by its ID, or nil.
func (t *Tx) Instance(id string) (*Instance, error) { return get[Instance](t, instances, []byte(id)) }

// InstanceByName returns a tenant's instance by its name, or nil.
func (t *Tx) InstanceByName(tenant, name string) (*Instance, error) {
	id := t.tx.Bucket(instanceNames).Get(key(tenant, name))
	if id == nil {
		return nil, nil
	}
	return t.Instance(string(id))
}

// Instances returns a tenant's instances, sorted by name; the instances of all tenants if tenant is
// empty.
func (t *Tx) Instances(tenant string) ([]Instance, error) {
	var list []Instance
	err := t.scan(instanceNames, tenant, func(_, id []byte) error {
		record, err := t.Instance(string(id))
		if err == nil && record != nil {
			list = append(list, *record)
		}
		return err
	})
	return list, err
}

// HasInstance reports whether a tenant has a matching instance. It stops at the first match.
func (t *Tx) HasInstance(tenant string, matches func(*Instance) bool) (bool, error) {
	err := t.scan(instanceNames, tenant, func(_, id []byte) error {
		record, err := t.Instance(string(id))
		if err == nil && record != nil && matches(record) {
			return errFound
		}
		return err
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// PutInstance writes an instance.
func (t *Tx) PutInstance(record *Instance) error {
	if err := t.tx.Bucket(instanceNames).Put(key(record.Tenant, record.Name), []byte(record.ID)); err != nil {
		return err
	}
	return put(t, instances, []byte(record.ID), record)
}

// DeleteInstance deletes an instance, its user data and its address.
func (t *Tx) DeleteInstance(record *Instance) error {
	for _, entry := range []struct{ bucket, key []byte }{
		{instances, []byte(record.ID)},
		{instanceNames, key(record.Tenant, record.Name)},
		{userData, []byte(record.ID)},
		{addresses, []byte(record.Address)},
	} {
		if len(entry.key) == 0 {
			continue
		}
		if err := remove(t, entry.bucket, entry.key); err != nil {
			return err
		}
	}
	return nil
}

// UserData returns a copy of the bootstrap data of an instance; nil if there is none.
func (t *Tx) UserData(id string) []byte { return slices.Clone(t.tx.Bucket(userData).Get([]byte(id))) }

// PutUserData writes the bootstrap data of an instance.
func (t *Tx) PutUserData(id string, data []byte) error {
	return t.tx.Bucket(userData).Put([]byte(id), data)
}

// DeleteUserData deletes the bootstrap data of an instance.
func (t *Tx) DeleteUserData(id string) error { return remove(t, userData, []byte(id)) }

// Pool returns a tenant's pool, or nil.
func (t *Tx) Pool(tenant, name string) (*Pool, error) { return get[Pool](t, pools, key(tenant, name)) }

// Pools returns a tenant's pools, sorted by name; the pools of all tenants if tenant is empty.
func (t *Tx) Pools(tenant string) ([]Pool, error) {
	return list[Pool](t, pools, tenant)
}

// PutPool writes a pool.
func (t *Tx) PutPool(record *Pool) error {
	return put(t, pools, key(record.Tenant, record.Name), record)
}

// DeletePool deletes a pool.
func (t *Tx) DeletePool(record *Pool) error {
	return remove(t, pools, key(record.Tenant, record.Name))
}

// LoadBalancer returns a tenant's load balancer, or nil.
func (t *Tx) LoadBalancer(tenant, name string) (*LoadBalancer, error) {
	return get[LoadBalancer](t, balancers, key(tenant, name))
}

// LoadBalancers returns a tenant's load balancers, sorted by name; the load balancers of all
// tenants if tenant is empty.
func (t *Tx) LoadBalancers(tenant string) ([]LoadBalancer, error) {
	return list[LoadBalancer](t, balancers, tenant)
}

// PutLoadBalancer writes a load balancer.
func (t *Tx) PutLoadBalancer(record *LoadBalancer) error {
	return put(t, balancers, key(record.Tenant, record.Name), record)
}

// DeleteLoadBalancer deletes a load balancer and its address.
func (t *Tx) DeleteLoadBalancer(record *LoadBalancer) error {
	if err := remove(t, addresses, []byte(record.Address)); err != nil {
		return err
	}
	return remove(t, balancers, key(record.Tenant, record.Name))
}

// Fault returns a tenant's fault rule, or nil.
func (t *Tx) Fault(tenant, name string) (*fault.Rule, error) {
	return get[fault.Rule](t, faults, key(tenant, name))
}

// Faults returns a tenant's fault rules, sorted by name; all rules, including rules for every
// tenant, if tenant is empty.
func (t *Tx) Faults(tenant string) ([]fault.Rule, error) {
	return list[fault.Rule](t, faults, tenant)
}

// PutFault writes a fault rule.
func (t *Tx) PutFault(record *fault.Rule) error {
	return put(t, faults, key(record.Tenant, record.Name), record)
}

// DeleteFault deletes a fault rule.
func (t *Tx) DeleteFault(record *fault.Rule) error {
	return remove(t, faults, key(record.Tenant, record.Name))
}

// Network returns what an earlier run changed on the host, or nil.
func (t *Tx) Network() (*Network, error) { return get[Network](t, meta, networkKey) }

// PutNetwork writes what the daemon changes on the host.
func (t *Tx) PutNetwork(record *Network) error { return put(t, meta, networkKey, record) }

// list returns a tenant's records in a bucket, sorted by name; the records of all tenants if tenant
// is empty.
func list[R any](t *Tx, bucket []byte, tenant string) ([]R, error) {
	var records []R
	err := t.scan(bucket, tenant, func(name, _ []byte) error {
		record, err := get[R](t, bucket, name)
		if err == nil {
			records = append(records, *record)
		}
		return err
	})
	return records, err
}

func (t *Tx) scan(bucket []byte, tenant string, visit func(key, value []byte) error) error {
	prefix := key(tenant, "")
	if tenant == "" {
		prefix = nil
	}
	cursor := t.tx.Bucket(bucket).Cursor()
	for name, value := cursor.Seek(prefix); name != nil && bytes.HasPrefix(name, prefix); name, value = cursor.Next() {
		if err := visit(name, value); err != nil {
			return err
		}
	}
	return nil
}
