// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// refusal is a cloud that refuses every call, for the same reason.
type refusal struct{ err error }

var _ cloud.Cloud = refusal{}

// Usable reports whether Clouds found a cloud that can be queried. If it did not, nothing more can
// have been ordered than before.
func Usable(c cloud.Catalog) bool {
	_, refuses := c.(refusal)
	return !refuses
}

func (r refusal) Zones(context.Context) ([]cloud.Zone, error) { return nil, r.err }

func (r refusal) InstanceTypes(context.Context) ([]cloud.InstanceType, error) { return nil, r.err }

func (r refusal) Images(context.Context) ([]cloud.Image, error) { return nil, r.err }

func (r refusal) Quota(context.Context) (cloud.Quota, error) {
	return cloud.Quota{}, r.err
}

func (r refusal) EnsureLoadBalancer(context.Context, cloud.LoadBalancerSpec) (cloud.LoadBalancer, error) {
	return cloud.LoadBalancer{}, r.err
}

func (r refusal) GetLoadBalancer(context.Context, string) (cloud.LoadBalancer, error) {
	return cloud.LoadBalancer{}, r.err
}

func (r refusal) ListLoadBalancers(context.Context, cloud.Tags) ([]cloud.LoadBalancer, error) {
	return nil, r.err
}

func (r refusal) DeleteLoadBalancer(context.Context, string) error { return r.err }

func (r refusal) EnsureInstance(context.Context, cloud.InstanceSpec) (cloud.Instance, error) {
	return cloud.Instance{}, r.err
}

func (r refusal) GetInstance(context.Context, string) (cloud.Instance, error) {
	return cloud.Instance{}, r.err
}

func (r refusal) ListInstances(context.Context, cloud.InstanceFilter) ([]cloud.Instance, error) {
	return nil, r.err
}

func (r refusal) DrainInstance(context.Context, string) error { return r.err }

func (r refusal) DeleteInstance(context.Context, string) error { return r.err }

func (r refusal) EnsurePool(context.Context, cloud.PoolSpec, string) (cloud.Pool, error) {
	return cloud.Pool{}, r.err
}

func (r refusal) ScalePool(context.Context, string, int32, string) (cloud.Pool, error) {
	return cloud.Pool{}, r.err
}

func (r refusal) GetPool(context.Context, string) (cloud.Pool, error) {
	return cloud.Pool{}, r.err
}

func (r refusal) ListPools(context.Context, cloud.Tags) ([]cloud.Pool, error) { return nil, r.err }

func (r refusal) DeletePool(context.Context, string) error { return r.err }

func (r refusal) Watch(context.Context) (<-chan cloud.Event, error) { return nil, r.err }
