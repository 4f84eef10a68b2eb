// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import "context"

// Cloud is a Foo cloud as one tenant sees it. Implementations are safe for concurrent use.
//
// Errors are of this package's types: NotFoundError, InvalidError, ConflictError, QuotaExceededError, CapacityError,
// UnauthorizedError, ThrottledError and UnavailableError. Any other error is a fault of the transport and may be tried again.
type Cloud interface {
	Catalog
	LoadBalancers
	Instances
	Pools

	// Watch streams what changes from now on, and starts with one Synced event, so that a caller who lists after that
	// event misses nothing. The channel is closed when ctx ends or the connection is lost; the caller then watches again.
	Watch(ctx context.Context) (<-chan Event, error)
}

// Catalog is what a tenant can order, and how much of it.
type Catalog interface {
	// Zones returns the failure domains of the cloud, sorted by name.
	Zones(ctx context.Context) ([]Zone, error)
	// InstanceTypes returns the sizes of instances, sorted by name.
	InstanceTypes(ctx context.Context) ([]InstanceType, error)
	// Images returns the Kubernetes versions that an instance can run, oldest first.
	Images(ctx context.Context) ([]Image, error)
	// Quota returns the tenant's limits and what it uses of them now.
	Quota(ctx context.Context) (Quota, error)
}

// LoadBalancers gives a stable address to a changing set of instances.
type LoadBalancers interface {
	// EnsureLoadBalancer creates the load balancer that the spec names, or updates its selector.
	// The address is set in what it returns, though the load balancer may not be ready yet.
	EnsureLoadBalancer(ctx context.Context, spec LoadBalancerSpec) (LoadBalancer, error)
	// GetLoadBalancer returns one load balancer, or a NotFoundError.
	GetLoadBalancer(ctx context.Context, name string) (LoadBalancer, error)
	// ListLoadBalancers returns the load balancers that carry all of the tags, sorted by name; all with no tags.
	ListLoadBalancers(ctx context.Context, tags Tags) ([]LoadBalancer, error)
	// DeleteLoadBalancer deletes one load balancer; see the package comment for what it returns when.
	DeleteLoadBalancer(ctx context.Context, name string) error
}

// Instances are the machines of the cloud. One that is interruptible may be taken back by the cloud, after a notice.
type Instances interface {
	// EnsureInstance creates the instance that the spec names, or returns the one that has the name.
	// An instance of a pool is made by the pool, never by this call.
	EnsureInstance(ctx context.Context, spec InstanceSpec) (Instance, error)
	// GetInstance returns one instance by its ID, or a NotFoundError.
	GetInstance(ctx context.Context, id string) (Instance, error)
	// ListInstances returns the instances that match the filter, sorted by name.
	ListInstances(ctx context.Context, filter InstanceFilter) ([]Instance, error)
	// DrainInstance takes an instance out of the load balancers that have it, for good: they send it no new connection and
	// close those that it has, from when on they have another backend that is ready. The last one stays in use, so that
	// a call for all instances at once cuts nobody off. The instance itself is not touched.
	DrainInstance(ctx context.Context, id string) error
	// DeleteInstance stops an instance and deletes it; see the package comment for what it returns when.
	// An instance of a pool leaves its pool, and the pool's size shrinks by one.
	DeleteInstance(ctx context.Context, id string) error
}

// Pools are sets of instances made from one template. The cloud brings the number of instances up to the pool's size;
// it never deletes an instance of a pool to bring the number down: the caller names the instance to delete. An instance that
// is lost, or that the cloud takes back, leaves the size as it is, so that the pool makes another.
//
// A pool has a version, which changes with its template and its size; deleting one of its instances changes the size. A change names the
// version that the caller has seen, and is refused with a ConflictError if the pool has another version now: nobody overwrites
// what they did not read. A change that is in effect already succeeds whatever the version, so that a call may be repeated.
type Pools interface {
	// EnsurePool creates the pool that the spec names, or changes its zones, tags and template; it never changes the size of a
	// pool that exists. A new template is used for instances made from then on; existing instances stay as they are. The version
	// is empty where the caller has seen no pool of the name.
	EnsurePool(ctx context.Context, spec PoolSpec, version string) (Pool, error)
	// ScalePool changes the size of a pool and nothing else. A size below the number of instances is refused with an
	// InvalidError: delete instances by name to shrink.
	ScalePool(ctx context.Context, name string, size int32, version string) (Pool, error)
	// GetPool returns one pool, or a NotFoundError.
	GetPool(ctx context.Context, name string) (Pool, error)
	// ListPools returns the pools that carry all of the tags, sorted by name; all with no tags.
	ListPools(ctx context.Context, tags Tags) ([]Pool, error)
	// DeletePool deletes a pool with all its instances; see the package comment for what it returns when.
	DeletePool(ctx context.Context, name string) error
}
