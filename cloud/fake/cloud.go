// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/events"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// Mode defines when operations finish that take time in a real cloud.
type Mode string

const (
	// Instant is the default: when the call returns, the instance runs, the load balancer is ready,
	// or the deletion is finished.
	Instant Mode = "Instant"
	// Manual leaves instances Pending, load balancers not ready and deletions unfinished until the
	// test changes that.
	Manual Mode = "Manual"
)

// Options configures a fake cloud. Zero values are replaced by the defaults named at each field.
type Options struct {
	// Mode defaults to Instant.
	Mode Mode
	// Zones defaults to zone-a and zone-b, which can hold control planes, and zone-c for workers
	// only.
	Zones []cloud.Zone
	// InstanceTypes defaults to small and large.
	InstanceTypes []cloud.InstanceType
	// Images defaults to the default images of v1.35.4 and v1.36.3, and gpu of v1.36.3.
	Images []cloud.Image
	// Limits defaults to no limits.
	Limits cloud.Resources
	// LateAddresses leaves load balancers without an address until AssignAddress.
	LateAddresses bool
}

type instance struct {
	cloud.Instance

	userData []byte
}

type pool struct {
	cloud.Pool

	userData []byte
}

type loadBalancer struct {
	cloud.LoadBalancer

	deleting bool
}

// Cloud is an in-memory cloud. It is safe for concurrent use.
type Cloud struct {
	options Options

	lock          sync.Mutex
	next          int
	instances     map[string]*instance
	ids           map[string]string // instance ID by instance name
	pools         map[string]*pool
	loadBalancers map[string]*loadBalancer
	events        *events.Hub
	watches       map[*watch]struct{}
	faults        map[Call]error
	refusal       error // returned for every new instance; nil for none
	calls         map[Call]int
}

var _ cloud.Cloud = &Cloud{}

// New returns an empty cloud.
func New(options Options) *Cloud {
	return &Cloud{
		options:       withDefaults(options),
		instances:     map[string]*instance{},
		ids:           map[string]string{},
		pools:         map[string]*pool{},
		loadBalancers: map[string]*loadBalancer{},
		events:        events.NewHub(),
		watches:       map[*watch]struct{}{},
		faults:        map[Call]error{},
		calls:         map[Call]int{},
	}
}

func withDefaults(o Options) Options {
	if o.Mode == "" {
		o.Mode = Instant
	}
	if o.Zones == nil {
		o.Zones = []cloud.Zone{
			{Name: "zone-a", ControlPlane: true}, {Name: "zone-b", ControlPlane: true}, {Name: "zone-c"},
		}
	}
	if o.InstanceTypes == nil {
		o.InstanceTypes = []cloud.InstanceType{
			{Name: "large", CPUs: 8, MemoryBytes: 32 << 30, Architecture: "amd64"},
			{Name: "small", CPUs: 2, MemoryBytes: 4 << 30, Architecture: "amd64"},
		}
	}
	if o.Images == nil {
		o.Images = []cloud.Image{{KubernetesVersion: "v1.35.4"}, {KubernetesVersion: "v1.36.3"}, {Name: "gpu", KubernetesVersion: "v1.36.3"}}
	}
	return o
}

// nextID returns an ID that was never used before. Callers must hold the lock.
func (c *Cloud) nextID() string {
	c.next++
	return fmt.Sprintf("i%05d", c.next)
}

// nextAddress returns an address that was never used before. Callers must hold the lock.
func (c *Cloud) nextAddress() string {
	c.next++
	return fmt.Sprintf("192.0.%d.%d", c.next/250, c.next%250+1)
}

func (c *Cloud) catalog() rules.Catalog {
	return rules.Catalog{Zones: c.options.Zones, InstanceTypes: c.options.InstanceTypes, Images: c.options.Images}
}

// spread counts the matching instances by zone. Callers must hold the lock.
func (c *Cloud) spread(filter cloud.InstanceFilter) rules.Spread {
	spread := rules.Spread{}
	for _, i := range c.instances {
		if filter.Matches(i.Instance) {
			spread.Add(&i.Instance)
		}
	}
	return spread
}

// answer answers a call under the lock, unless the call must fail.
func answer[V any](ctx context.Context, c *Cloud, call Call, give func() (V, error)) (V, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, call); err != nil {
		var none V
		return none, err
	}
	return give()
}

// find returns an object, or a NotFoundError.
func find[O any](objects map[string]*O, kind, key string) (*O, error) {
	object, ok := objects[key]
	if !ok {
		return nil, &cloud.NotFoundError{Kind: kind, Name: key}
	}
	return object, nil
}

// get returns an object as callers see it, or a NotFoundError.
func get[O, V any](objects map[string]*O, kind, key string, seen func(*O) V) (V, error) {
	object, err := find(objects, kind, key)
	if err != nil {
		var none V
		return none, err
	}
	return seen(object), nil
}

// list returns the matching objects as callers see them, sorted by key.
func list[O, V any](objects map[string]*O, matches func(*O) bool, seen func(*O) V) []V {
	var found []V
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if matches(objects[key]) {
			found = append(found, seen(objects[key]))
		}
	}
	return found
}

// used returns the resources in use. Callers must hold the lock.
func (c *Cloud) used() cloud.Resources {
	used := cloud.Resources{Instances: len(c.instances), LoadBalancers: len(c.loadBalancers)}
	for _, i := range c.instances {
		if t, err := c.catalog().InstanceType("type", i.Type); err == nil {
			used.CPUs += t.CPUs
			used.MemoryBytes += t.MemoryBytes
		}
	}
	return used
}

// quota returns the limits and what is used. Callers must hold the lock.
func (c *Cloud) quota() cloud.Quota { return cloud.Quota{Limits: c.options.Limits, Used: c.used()} }

// Zones returns the zones of the options.
func (c *Cloud) Zones(ctx context.Context) ([]cloud.Zone, error) {
	return answer(ctx, c, CallZones, func() ([]cloud.Zone, error) { return slices.Clone(c.options.Zones), nil })
}

// InstanceTypes returns the instance types of the options.
func (c *Cloud) InstanceTypes(ctx context.Context) ([]cloud.InstanceType, error) {
	return answer(ctx, c, CallInstanceTypes, func() ([]cloud.InstanceType, error) { return slices.Clone(c.options.InstanceTypes), nil })
}

// Images returns the images of the options.
func (c *Cloud) Images(ctx context.Context) ([]cloud.Image, error) {
	return answer(ctx, c, CallImages, func() ([]cloud.Image, error) { return slices.Clone(c.options.Images), nil })
}

// Quota returns the limits and the current usage.
func (c *Cloud) Quota(ctx context.Context) (cloud.Quota, error) {
	return answer(ctx, c, CallQuota, func() (cloud.Quota, error) { return c.quota(), nil })
}
