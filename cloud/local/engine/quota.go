// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

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
