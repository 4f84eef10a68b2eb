// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import "context"

// Cloud is a Foo cloud as one tenant sees it. Implementations are safe for concurrent use.
//
// Errors have this package's types: NotFoundError, InvalidError, ConflictError, QuotaExceededError,
// CapacityError, UnauthorizedError, ThrottledError and UnavailableError. Any other error is a
// transport failure and may be retried.
type Cloud interface {
	Catalog
	LoadBalancers
	Instances
	Pools

	// Watch streams changes from now on. The first event is always Synced, so a caller that lists
	// after that event misses nothing. The channel is closed when ctx ends or the connection is
	// lost; the caller must then watch again.
	Watch(ctx context.Context) (<-chan Event, error)
}

// Catalog lists what a tenant can order and how much of it.
type Catalog interface {
	// Zones returns the failure domains of the cloud, sorted by name.
	Zones(ctx context.Context) ([]Zone, error)
	// InstanceTypes returns the sizes of instances, sorted by name.
	InstanceTypes(ctx context.Context) ([]InstanceType, error)
	// Images returns the images that an instance can be created from, with the oldest Kubernetes
	// version first and images of the same version by name.
	Images(ctx context.Context) ([]Image, error)
	// Quota returns the tenant's limits and current usage.
	Quota(ctx context.Context) (Quota, error)
}

// LoadBalancers manages load balancers, which give a stable address to a changing set of instances.
type LoadBalancers interface {
	// EnsureLoadBalancer creates the load balancer that the spec names, or updates its tags and
	// selector. The returned load balancer may not be ready yet, and may not have its address yet;
	// an event follows once it does. The address depends on no backend, and never changes.
	EnsureLoadBalancer(ctx context.Context, spec LoadBalancerSpec) (LoadBalancer, error)
	// GetLoadBalancer returns one load balancer, or a NotFoundError.
	GetLoadBalancer(ctx context.Context, name string) (LoadBalancer, error)
	// ListLoadBalancers returns the load balancers that carry all of the tags, sorted by name;
	// without tags, all load balancers.
	ListLoadBalancers(ctx context.Context, tags Tags) ([]LoadBalancer, error)
	// DeleteLoadBalancer deletes one load balancer; see the package comment for its return values.
	DeleteLoadBalancer(ctx context.Context, name string) error
}

// Instances manages the machines of the cloud. The cloud may reclaim an interruptible instance
// after giving notice.
type Instances interface {
	// EnsureInstance creates the instance that the spec names, or returns the existing instance of
	// that name. Only a pool creates the pool's instances; this call never does.
	EnsureInstance(ctx context.Context, spec InstanceSpec) (Instance, error)
	// GetInstance returns one instance by its ID, or a NotFoundError.
	GetInstance(ctx context.Context, id string) (Instance, error)
	// ListInstances returns the instances that match the filter, sorted by name.
	ListInstances(ctx context.Context, filter InstanceFilter) ([]Instance, error)
	// DrainInstance permanently takes an instance out of its load balancers. As soon as a load
	// balancer has another ready backend, it sends the instance no new connections and, if it can,
	// closes the existing ones. The last ready backend stays in use, so draining all instances at
	// the same time cuts nobody off. The instance itself is not touched.
	DrainInstance(ctx context.Context, id string) error
	// DeleteInstance stops an instance and deletes it; see the package comment for its return
	// values. An instance of a pool leaves its pool, and the pool's size shrinks by one.
	DeleteInstance(ctx context.Context, id string) error
}

// Pools manages sets of instances created from one template. The cloud creates instances until the
// pool reaches its size. It never deletes an instance to shrink a pool: the caller names the
// instance to delete. Losing an instance, or having it reclaimed by the cloud, does not change the
// size, so the pool creates a replacement. If a pool itself is lost, its instances stay: EnsurePool
// takes them over, and DeletePool deletes them.
//
// A pool has a version, which changes with its template and its size. Deleting one of its instances
// changes the size. Every change names the version that the caller has seen. If the pool has a
// different version by now, the change is refused with a ConflictError, so nobody overwrites what
// they have not read. A change that is already in effect succeeds whatever the version, so calls
// may be repeated.
type Pools interface {
	// EnsurePool creates the pool that the spec names, or changes its zones, tags and template. It
	// never changes the size of an existing pool. A new template applies only to instances created
	// from then on. The version is empty if the caller has not seen a pool of that name.
	//
	// A spec that the cloud cannot carry out is refused with an InvalidError. But a pool may keep
	// zones and an image that the cloud no longer has, so that its tags and user data can still
	// change. Without the image, another revision is refused with an InvalidError, and the pool
	// cannot grow: once it lacks instances, Problem says why.
	EnsurePool(ctx context.Context, spec PoolSpec, version string) (Pool, error)
	// ScalePool changes only the size of a pool. A size below the number of instances is refused
	// with an InvalidError: delete instances by name to shrink the pool.
	ScalePool(ctx context.Context, name string, size int32, version string) (Pool, error)
	// GetPool returns one pool, or a NotFoundError.
	GetPool(ctx context.Context, name string) (Pool, error)
	// ListPools returns the pools that carry all of the tags, sorted by name; without tags, all
	// pools.
	ListPools(ctx context.Context, tags Tags) ([]Pool, error)
	// DeletePool deletes a pool with all its instances; see the package comment for its return
	// values.
	DeletePool(ctx context.Context, name string) error
}
