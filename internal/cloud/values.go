// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"maps"
	"slices"
	"time"
)

// Tags are free key-value pairs on what a tenant makes. The cloud stores and matches them.
type Tags map[string]string

// Contains reports whether every pair of want is among the tags.
func (t Tags) Contains(want Tags) bool {
	for key, value := range want {
		if got, ok := t[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// Equal reports whether both hold the same pairs.
func (t Tags) Equal(other Tags) bool { return maps.Equal(t, other) }

// Zone is a failure domain of the cloud.
type Zone struct {
	// Name of the zone, a DNS label.
	Name string `json:"name"`
	// ControlPlane says whether the zone is meant to hold control plane instances.
	ControlPlane bool `json:"controlPlane"`
}

// InstanceType is a size of instance.
type InstanceType struct {
	// Name of the type, for example "small".
	Name string `json:"name"`
	// CPUs of the instance, which its Node reports and which it may use.
	CPUs int `json:"cpus"`
	// MemoryBytes of the instance, which its Node reports and which it may use.
	MemoryBytes int64 `json:"memoryBytes"`
	// DiskBytes is what the instance may write to its disk; 0 where the cloud does not limit or say it.
	DiskBytes int64 `json:"diskBytes,omitempty"`
	// Architecture of the CPUs in Go's words, for example "amd64"; empty where the cloud does not say.
	Architecture string `json:"architecture,omitempty"`
}

// Image is a Kubernetes version that instances can run.
type Image struct {
	// KubernetesVersion with its leading v, for example "v1.36.3".
	KubernetesVersion string `json:"kubernetesVersion"`
}

// Resources are amounts of what a quota limits.
type Resources struct {
	// Instances, those of pools included.
	Instances int `json:"instances"`
	// CPUs of all instances' types.
	CPUs int `json:"cpus"`
	// MemoryBytes of all instances' types.
	MemoryBytes int64 `json:"memoryBytes"`
	// LoadBalancers of the tenant.
	LoadBalancers int `json:"loadBalancers"`
}

// Quota is what a tenant may use at most, and what it uses now. A limit of zero is no limit.
type Quota struct {
	// Limits of the tenant.
	Limits Resources `json:"limits"`
	// Used by the tenant now.
	Used Resources `json:"used"`
}

// LoadBalancerSpec asks for a load balancer.
type LoadBalancerSpec struct {
	// Name of the load balancer, unique in the tenant, a DNS subdomain of at most 253 characters.
	Name string `json:"name"`
	// Tags of the load balancer itself.
	Tags Tags `json:"tags,omitempty"`
	// Port on which it listens and to which it forwards; immutable.
	Port int32 `json:"port"`
	// Selector is the tags that an instance must carry, all of them, to be a backend. It must not be empty.
	Selector Tags `json:"selector"`
}

// LoadBalancer is a load balancer as it is.
type LoadBalancer struct {
	LoadBalancerSpec `json:",inline"`
	// Address on which it listens: an IP address.
	Address string `json:"address"`
	// Ready says whether it accepts connections. While it has no backend yet, it holds them.
	Ready bool `json:"ready"`
	// Backends it knows, sorted by instance ID.
	Backends []Backend `json:"backends,omitempty"`
	// Message says why it is not ready.
	Message string `json:"message,omitempty"`
}

// Backend is an instance behind a load balancer.
type Backend struct {
	// InstanceID of the instance.
	InstanceID string `json:"instanceID"`
	// Address of the instance.
	Address string `json:"address"`
	// Draining says that it is used only while no other backend is ready.
	Draining bool `json:"draining,omitempty"`
}

// InstanceTemplate is what an instance is made from.
type InstanceTemplate struct {
	// Type names an InstanceType.
	Type string `json:"type"`
	// KubernetesVersion names an Image.
	KubernetesVersion string `json:"kubernetesVersion"`
	// UserData is the bootstrap data, in cloud-init format. Never returned by the cloud.
	UserData []byte `json:"userData,omitempty"`
	// Tags of the instance.
	Tags Tags `json:"tags,omitempty"`
	// Interruptible allows the cloud to take the instance back at any time, after a notice; see Instance.ReclaimAt.
	Interruptible bool `json:"interruptible,omitempty"`
}

// InstanceSpec asks for an instance.
type InstanceSpec struct {
	// Name of the instance, unique in the tenant. A DNS subdomain of at most 253 characters.
	Name string `json:"name"`
	// Hostname of the instance, a DNS subdomain of at most 63 characters; need not be unique.
	Hostname string `json:"hostname"`
	// Zone to place it in; with none the cloud takes the zone that has the fewest instances of the same tags.
	Zone             string `json:"zone,omitempty"`
	InstanceTemplate `json:",inline"`
}

// InstanceFilter chooses instances. A zero filter chooses all.
type InstanceFilter struct {
	// Name of the instance.
	Name string
	// Pool that made the instance.
	Pool string
	// Tags that the instance carries, all of them.
	Tags Tags
}

// Matches reports whether the instance passes the filter.
func (f InstanceFilter) Matches(i Instance) bool {
	return (f.Name == "" || f.Name == i.Name) && (f.Pool == "" || f.Pool == i.Pool) && i.Tags.Contains(f.Tags)
}

// InstanceState is where an instance is in its life.
type InstanceState string

const (
	// InstancePending is an instance that is being made: it has an ID and perhaps an address, but does not run yet.
	InstancePending InstanceState = "Pending"
	// InstanceRunning is an instance whose first process runs. Whether it joined a cluster is told by Bootstrap.
	InstanceRunning InstanceState = "Running"
	// InstanceStopped is an instance whose first process ended, though nobody asked for that. It does not start again, unless the
	// cloud that stopped it says otherwise.
	InstanceStopped InstanceState = "Stopped"
	// InstanceDeleting is an instance on its way out.
	InstanceDeleting InstanceState = "Deleting"
	// InstanceFailed is an instance that could not be made; Message says why. Delete it and make another.
	InstanceFailed InstanceState = "Failed"
)

// Terminal reports whether an instance in this state is not to be waited for.
func (s InstanceState) Terminal() bool {
	return slices.Contains([]InstanceState{InstanceStopped, InstanceDeleting, InstanceFailed}, s)
}

// BootstrapState is how far an instance is with its bootstrap data.
type BootstrapState string

const (
	// BootstrapPending is before the first command of the bootstrap data.
	BootstrapPending BootstrapState = "Pending"
	// BootstrapRunning is while commands run.
	BootstrapRunning BootstrapState = "Running"
	// BootstrapSucceeded is after all commands ended well.
	BootstrapSucceeded BootstrapState = "Succeeded"
	// BootstrapFailed is after a command failed or the data could not be read; it is final.
	BootstrapFailed BootstrapState = "Failed"
)

// Bootstrap is what an instance reports of its bootstrap data.
type Bootstrap struct {
	// State of the bootstrap.
	State BootstrapState `json:"state"`
	// Message says what failed: the command, its exit code and its last line of output. No secrets.
	Message string `json:"message,omitempty"`
}

// Instance is an instance as it is. The bootstrap data is never among what is returned.
type Instance struct {
	// ID of the instance: unique in the cloud, short, made of lower-case letters and digits, never used again.
	ID string `json:"id"`
	// Name as asked for.
	Name string `json:"name"`
	// Hostname as asked for.
	Hostname string `json:"hostname"`
	// Zone it runs in.
	Zone string `json:"zone"`
	// ProviderID is foo:///<zone>/<id>.
	ProviderID string `json:"providerID"`
	// Type of the instance.
	Type string `json:"type"`
	// KubernetesVersion of its image.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Tags of the instance.
	Tags Tags `json:"tags,omitempty"`
	// Pool that made it, if one did.
	Pool string `json:"pool,omitempty"`
	// Revision of the pool's template that it was made from.
	Revision string `json:"revision,omitempty"`
	// Address is its IP address; empty until it has one.
	Address string `json:"address,omitempty"`
	// State of the instance.
	State InstanceState `json:"state"`
	// Message says why it is in that state, where there is something to say.
	Message string `json:"message,omitempty"`
	// Bootstrap is what it reports of its bootstrap data.
	Bootstrap Bootstrap `json:"bootstrap"`
	// Draining says that it was taken out of its load balancers.
	Draining bool `json:"draining,omitempty"`
	// Interruptible as asked for.
	Interruptible bool `json:"interruptible,omitempty"`
	// ReclaimAt is when the cloud takes an interruptible instance back: it ends then, and is gone soon after. Nil while the
	// cloud has not given notice; a notice that was given is never taken back.
	ReclaimAt *time.Time `json:"reclaimAt,omitempty"`
	// CreatedAt is when it was ordered.
	CreatedAt time.Time `json:"createdAt"`
}

// PoolSpec asks for an instance pool.
type PoolSpec struct {
	// Name of the pool, unique in the tenant; its instances are named <name>-<five characters>. A DNS subdomain of at
	// most 247 characters.
	Name string `json:"name"`
	// HostnamePrefix of the pool's instances: their host names are <prefix>-<the same five characters>. A DNS
	// subdomain of at most 57 characters.
	HostnamePrefix string `json:"hostnamePrefix"`
	// Tags of the pool itself.
	Tags Tags `json:"tags,omitempty"`
	// Size is the number of instances wanted. EnsurePool reads it only when it creates the pool.
	Size int32 `json:"size"`
	// Zones that instances are spread over evenly; all zones with none named.
	Zones []string `json:"zones,omitempty"`
	// Revision names the template. The cloud writes it on each instance that it makes and never interprets it:
	// user data may change, as when a token is renewed, without a new revision.
	Revision string `json:"revision"`
	// Template of the instances.
	Template InstanceTemplate `json:"template"`
}

// SameTemplate reports whether both make the same instances in the same zones; user data does not count, since the cloud never
// returns it.
func (s PoolSpec) SameTemplate(other PoolSpec) bool {
	return s.Revision == other.Revision && slices.Equal(s.Zones, other.Zones) && s.Template.Type == other.Template.Type &&
		s.Template.KubernetesVersion == other.Template.KubernetesVersion &&
		s.Template.Interruptible == other.Template.Interruptible && s.Template.Tags.Equal(other.Template.Tags)
}

// Pool is an instance pool as it is. The template's user data is never among what is returned.
type Pool struct {
	PoolSpec `json:",inline"`
	// Version changes with every change of the template and the size. It is opaque; compare versions for equality only.
	Version string `json:"version"`
	// Instances is the number of instances that the pool has, in whatever state.
	Instances int32 `json:"instances"`
	// Problem says why the pool could not make an instance, and is nil when nothing is wrong.
	Problem *Problem `json:"problem,omitempty"`
	// Deleting says whether the pool is on its way out.
	Deleting bool `json:"deleting,omitempty"`
}

// Problem is an error that happened after the call that caused it had returned.
type Problem struct {
	// Reason is the type of the error, one of the Reason constants.
	Reason Reason `json:"reason"`
	// Message says what was wrong and what is allowed.
	Message string `json:"message"`
}

// EventKind says what an event is about.
type EventKind string

const (
	// EventSynced is the first event of every watch and is about nothing.
	EventSynced EventKind = "Synced"
	// EventInstance is about an instance: Name is its name, ID its ID.
	EventInstance EventKind = "Instance"
	// EventPool is about a pool.
	EventPool EventKind = "Pool"
	// EventLoadBalancer is about a load balancer.
	EventLoadBalancer EventKind = "LoadBalancer"
)

// Event says that something changed, was made or went; get it to know what is true now.
type Event struct {
	// Kind of what changed.
	Kind EventKind `json:"kind"`
	// Name of what changed.
	Name string `json:"name,omitempty"`
	// ID of the instance that changed.
	ID string `json:"id,omitempty"`
	// Pool of the instance that changed.
	Pool string `json:"pool,omitempty"`
	// Tags of what changed.
	Tags Tags `json:"tags,omitempty"`
}
