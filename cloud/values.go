// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"maps"
	"slices"
	"time"
)

// Tags are free-form key-value pairs on a tenant's objects. The cloud stores and matches them. Their
// number and size are limited; see MaxTags.
type Tags map[string]string

// Contains reports whether the tags include every pair of want.
func (t Tags) Contains(want Tags) bool {
	for key, value := range want {
		if got, ok := t[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// Equal reports whether both have the same pairs.
func (t Tags) Equal(other Tags) bool { return maps.Equal(t, other) }

// Zone is a failure domain of the cloud.
type Zone struct {
	// Name of the zone, a DNS label.
	Name string `json:"name"`
	// ControlPlane is true if the zone is meant for control plane instances.
	ControlPlane bool `json:"controlPlane"`
}

// InstanceType is a size of instance.
type InstanceType struct {
	// Name of the type, for example "small".
	Name string `json:"name"`
	// CPUs that the instance may use and that its Node reports.
	CPUs int `json:"cpus"`
	// MemoryBytes that the instance may use and that its Node reports.
	MemoryBytes int64 `json:"memoryBytes"`
	// DiskBytes that the instance may write to its disk; 0 if the cloud does not limit or report
	// it.
	DiskBytes int64 `json:"diskBytes,omitempty"`
	// Architecture of the CPUs in Go's terms, for example "amd64"; empty if the cloud does not
	// report it.
	Architecture string `json:"architecture,omitempty"`
}

// Image is a build of a node image for a Kubernetes version. Instances are created from it.
type Image struct {
	// Name of the image, a DNS label; empty for the cloud's default image. An image of the same name
	// may exist for other Kubernetes versions.
	Name string `json:"name,omitempty"`
	// KubernetesVersion with its leading v, for example "v1.36.3".
	KubernetesVersion string `json:"kubernetesVersion"`
}

// Resources are amounts of the resources that a quota limits.
type Resources struct {
	// Instances, including the instances of pools.
	Instances int `json:"instances"`
	// CPUs of all instances, according to their types.
	CPUs int `json:"cpus"`
	// MemoryBytes of all instances, according to their types.
	MemoryBytes int64 `json:"memoryBytes"`
	// LoadBalancers of the tenant.
	LoadBalancers int `json:"loadBalancers"`
}

// Quota is what a tenant may use at most and what it uses now. A limit of zero means no limit.
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
	// Port on which it listens; immutable.
	Port int32 `json:"port"`
	// TargetPort is the port of the backends; Port if 0. EnsureLoadBalancer reads it only when it
	// creates the load balancer.
	TargetPort int32 `json:"targetPort,omitempty"`
	// Selector lists the tags that an instance must carry, all of them, to be a backend. It must
	// not be empty.
	Selector Tags `json:"selector"`
}

// LoadBalancer is the actual state of a load balancer.
type LoadBalancer struct {
	LoadBalancerSpec `json:",inline"`
	// Address on which it listens: an IP address or a DNS name. Empty until the cloud has assigned
	// it.
	Address string `json:"address"`
	// Ready is true if it has an address and works. While it has no backend yet, it holds or
	// refuses connections.
	Ready bool `json:"ready"`
	// Backends that it knows, sorted by instance ID.
	Backends []Backend `json:"backends,omitempty"`
	// Message explains why it is not ready.
	Message string `json:"message,omitempty"`
}

// Backend is an instance behind a load balancer.
type Backend struct {
	// InstanceID of the instance.
	InstanceID string `json:"instanceID"`
	// Address of the instance.
	Address string `json:"address"`
	// Draining is true if the backend is used only while no other backend is ready.
	Draining bool `json:"draining,omitempty"`
}

// InstanceTemplate is the template that an instance is created from.
type InstanceTemplate struct {
	// Type names an InstanceType.
	Type string `json:"type"`
	// KubernetesVersion of the instance, with its leading v.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Image names an Image that exists for the Kubernetes version; the cloud's default image if
	// empty.
	Image string `json:"image,omitempty"`
	// DiskBytes is the size of the instance's disk; the size that the type specifies if 0. A cloud
	// that cannot limit disks refuses any other value.
	DiskBytes int64 `json:"diskBytes,omitempty"`
	// UserData is the bootstrap data, in cloud-init format. The cloud never returns it.
	UserData []byte `json:"userData,omitempty"`
	// Tags of the instance.
	Tags Tags `json:"tags,omitempty"`
	// Interruptible allows the cloud to reclaim the instance at any time, after giving notice; see
	// Instance.ReclaimAt.
	Interruptible bool `json:"interruptible,omitempty"`
}

// InstanceSpec asks for an instance.
type InstanceSpec struct {
	// Name of the instance, unique in the tenant. A DNS subdomain of at most 253 characters.
	Name string `json:"name"`
	// Hostname of the instance, a DNS subdomain of at most 63 characters. It need not be unique.
	Hostname string `json:"hostname"`
	// Zone to place it in. If empty, the cloud picks the one of Zones in which the tenant has the
	// fewest instances that carry the tags in Spread, all of them. Of several such zones, it picks
	// the one whose name sorts first. Instances that are being deleted or have stopped do not count.
	Zone string `json:"zone,omitempty"`
	// Zones to pick from if Zone is empty; all zones of the cloud if empty. Those that the cloud has
	// lost do not count, unless it has lost all of them.
	Zones []string `json:"zones,omitempty"`
	// Spread lists the tags of the instances to spread evenly over Zones; all instances of the
	// tenant if empty.
	Spread           Tags `json:"spread,omitempty"`
	InstanceTemplate `json:",inline"`
}

// InstanceFilter selects instances. A zero filter selects all.
type InstanceFilter struct {
	// Name of the instance.
	Name string
	// Pool that created the instance.
	Pool string
	// Tags that the instance must carry, all of them.
	Tags Tags
}

// Matches reports whether the instance passes the filter.
func (f InstanceFilter) Matches(i Instance) bool {
	return (f.Name == "" || f.Name == i.Name) && (f.Pool == "" || f.Pool == i.Pool) && i.Tags.Contains(f.Tags)
}

// InstanceState is the phase of an instance's life.
type InstanceState string

const (
	// InstancePending is an instance that is being created. It has an ID and perhaps an address,
	// but does not run yet.
	InstancePending InstanceState = "Pending"
	// InstanceRunning is an instance whose first process runs. Bootstrap reports whether it joined
	// a cluster.
	InstanceRunning InstanceState = "Running"
	// InstanceStopped is an instance whose first process ended although nobody asked for that, or that
	// could not be started again. It does not start again, unless the cloud that stopped it says
	// otherwise.
	InstanceStopped InstanceState = "Stopped"
	// InstanceDeleting is an instance that is being deleted.
	InstanceDeleting InstanceState = "Deleting"
	// InstanceFailed is an instance that could not be created; Message explains why. Delete it and
	// create another.
	InstanceFailed InstanceState = "Failed"
)

// Terminal reports whether it is pointless to wait for an instance in this state.
func (s InstanceState) Terminal() bool {
	return slices.Contains([]InstanceState{InstanceStopped, InstanceDeleting, InstanceFailed}, s)
}

// BootstrapState is how far an instance has run its bootstrap data.
type BootstrapState string

const (
	// BootstrapPending means that no command of the bootstrap data has started.
	BootstrapPending BootstrapState = "Pending"
	// BootstrapRunning means that commands are running.
	BootstrapRunning BootstrapState = "Running"
	// BootstrapSucceeded means that all commands succeeded.
	BootstrapSucceeded BootstrapState = "Succeeded"
	// BootstrapFailed means that a command failed or the data could not be read. It is final.
	BootstrapFailed BootstrapState = "Failed"
)

// Bootstrap is what an instance reports about its bootstrap data.
type Bootstrap struct {
	// State of the bootstrap.
	State BootstrapState `json:"state"`
	// Message describes what failed: the command, its exit code and its last line of output. It
	// contains no secrets.
	Message string `json:"message,omitempty"`
}

// Instance is the actual state of an instance. It never includes the bootstrap data.
type Instance struct {
	// ID of the instance: unique in the cloud, a DNS label, never reused.
	ID string `json:"id"`
	// Name as requested.
	Name string `json:"name"`
	// Hostname as requested.
	Hostname string `json:"hostname"`
	// Zone it runs in.
	Zone string `json:"zone"`
	// ProviderID is foo:///<zone>/<id>.
	ProviderID string `json:"providerID"`
	// Type of the instance.
	Type string `json:"type"`
	// KubernetesVersion of its image.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Image as requested; empty for the cloud's default image.
	Image string `json:"image,omitempty"`
	// DiskBytes is the size of its disk; 0 if nothing limits what it writes.
	DiskBytes int64 `json:"diskBytes,omitempty"`
	// Tags of the instance.
	Tags Tags `json:"tags,omitempty"`
	// Pool that created it, if any.
	Pool string `json:"pool,omitempty"`
	// Revision of the pool's template that it was created from.
	Revision string `json:"revision,omitempty"`
	// Address is its IP address; empty while it has none.
	Address string `json:"address,omitempty"`
	// State of the instance.
	State InstanceState `json:"state"`
	// Message explains the state, if there is anything to explain.
	Message string `json:"message,omitempty"`
	// Problem is what keeps a Pending instance from running, for example a lack of capacity. The
	// cloud keeps trying by itself. Nil if there is no problem.
	Problem *Problem `json:"problem,omitempty"`
	// Bootstrap is what the instance reports about its bootstrap data.
	Bootstrap Bootstrap `json:"bootstrap"`
	// Draining is true if the instance was taken out of its load balancers.
	Draining bool `json:"draining,omitempty"`
	// Interruptible as requested.
	Interruptible bool `json:"interruptible,omitempty"`
	// ReclaimAt is when the cloud reclaims an instance: an interruptible one, or any whose host is
	// going away. The instance stops then and is gone soon after. Nil while the cloud has not given
	// notice; a notice is never withdrawn.
	ReclaimAt *time.Time `json:"reclaimAt,omitempty"`
	// CreatedAt is when it was ordered or, if it had to wait for capacity, when it got a host.
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
	// Zones to spread the instances over evenly; all zones if empty. A new instance goes to the zone
	// with the fewest instances of the pool. Of several such zones, it goes to the one whose name
	// sorts first. Instances that are being deleted or have stopped do not count. Zones that the
	// cloud has lost get no new instance.
	Zones []string `json:"zones,omitempty"`
	// Revision names the template, in at most 63 bytes. The cloud records it on each instance that it
	// creates and never interprets it. User data may change without a new revision, for example when
	// a token is renewed.
	Revision string `json:"revision"`
	// Template of the instances.
	Template InstanceTemplate `json:"template"`
}

// SameTemplate reports whether both specs create the same instances in the same zones. It ignores
// user data, since the cloud never returns it.
func (s PoolSpec) SameTemplate(other PoolSpec) bool {
	return s.Revision == other.Revision && slices.Equal(s.Zones, other.Zones) && s.Template.Type == other.Template.Type &&
		s.Template.KubernetesVersion == other.Template.KubernetesVersion && s.Template.Image == other.Template.Image &&
		s.Template.DiskBytes == other.Template.DiskBytes &&
		s.Template.Interruptible == other.Template.Interruptible && s.Template.Tags.Equal(other.Template.Tags)
}

// Pool is the actual state of an instance pool. It never includes the template's user data.
type Pool struct {
	PoolSpec `json:",inline"`
	// Version changes with every change of the template or the size. It is opaque; compare versions
	// only for equality.
	Version string `json:"version"`
	// Instances is the number of instances in the pool, in any state.
	Instances int32 `json:"instances"`
	// Problem explains why the pool could not create an instance, or why one of its instances does
	// not run yet; nil if nothing is wrong.
	Problem *Problem `json:"problem,omitempty"`
	// Deleting is true if the pool is being deleted.
	Deleting bool `json:"deleting,omitempty"`
}

// Problem is an error that occurred after the call that caused it had returned.
type Problem struct {
	// Reason is the type of the error, one of the Reason constants.
	Reason Reason `json:"reason"`
	// Message describes what was wrong and what is allowed.
	Message string `json:"message"`
}

// ProblemOf returns the problem that an error is; nil if there is no error.
func ProblemOf(err error) *Problem {
	if err == nil {
		return nil
	}
	return &Problem{Reason: ReasonFor(err), Message: err.Error()}
}

// EventKind is the kind of object that an event is about.
type EventKind string

const (
	// EventSynced is the first event of every watch. It is about no object.
	EventSynced EventKind = "Synced"
	// EventInstance is about an instance. Name is its name, ID its ID.
	EventInstance EventKind = "Instance"
	// EventPool is about a pool.
	EventPool EventKind = "Pool"
	// EventLoadBalancer is about a load balancer.
	EventLoadBalancer EventKind = "LoadBalancer"
)

// Event reports that an object was created, changed or deleted. Get the object to learn its current
// state. After a deletion, the fields describe the deleted object.
type Event struct {
	// Kind of the object.
	Kind EventKind `json:"kind"`
	// Name of the object.
	Name string `json:"name,omitempty"`
	// ID, if the object is an instance.
	ID string `json:"id,omitempty"`
	// Pool, if the object is an instance.
	Pool string `json:"pool,omitempty"`
	// Tags of the object.
	Tags Tags `json:"tags,omitempty"`
}

// Length limits of names. Kubernetes allows longer object names, so admission checks the names that
// become host names.
const (
	// MaxHostname is the maximum length of a DNS label.
	MaxHostname = 63
	// MaxHostnamePrefix leaves room for the suffix that the cloud appends to a pool's prefix.
	MaxHostnamePrefix = 57
)

// Limits of tags and revisions, which the cloud stores with each instance. It refuses what exceeds
// them with an InvalidError. They allow the tags of the controllers and all tags of Foo's API: 50 of a
// FooCluster and 50 of a FooMachine, with keys of up to 128 and values of up to 256 characters.
const (
	// MaxTags is the maximum number of tags of an object, and of tags to select objects by.
	MaxTags = 128
	// MaxTagKey is the maximum length of the key of a tag in bytes.
	MaxTagKey = 512
	// MaxTagValue is the maximum length of the value of a tag in bytes.
	MaxTagValue = 1024
	// MaxRevision is the maximum length of a pool's revision in bytes.
	MaxRevision = 63
)

// Limits of the size of a disk.
const (
	// MinDiskBytes is the smallest disk that can hold a file system and a node.
	MinDiskBytes = 64 << 20
	// MaxDiskBytes is the largest disk that a file on any common file system can hold.
	MaxDiskBytes = 8 << 40
)
