// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contract defines what the cloud and the node agent agree on: where things are in an
// instance, what the cloud tells the instance about itself, and what the instance reports. Any
// other cloud that creates instances must follow it.
package contract

// Folders of an instance that the cloud fills.
const (
	// AgentDir holds the node agent, AgentName, and its links.
	AgentDir  = "/opt/foo/bin"
	AgentName = "foonode"
	// KubernetesDir holds the Kubernetes programs of the instance's version.
	KubernetesDir = "/opt/foo/kubernetes"
	// RuntimeDir holds containerd, its shim and ctr.
	RuntimeDir = "/opt/foo/runtime/bin"
	// StoreDir holds the unpacked container images.
	StoreDir = "/opt/foo/store"
	// StoreVersions lists the Kubernetes versions that have all their container images there, in a line
	// each.
	StoreVersions = StoreDir + "/versions"
	// RunDir holds the files that differ between instances.
	RunDir = "/run/foo"
)

// SearchPath is the PATH of all programs in an instance. The instance's own programs take
// precedence over the operating system's.
const SearchPath = KubernetesDir + ":" + AgentDir + ":" + RuntimeDir + ":" + SystemPath

// SystemPath lists the folders of the operating system's programs.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Files that the cloud writes before the instance starts.
const (
	// InstanceFile holds the Instance as JSON.
	InstanceFile = RunDir + "/instance.json"
	// UserDataFile holds the bootstrap data; only root may read it.
	UserDataFile = RunDir + "/user-data"
)

// A cloud whose instances are Pods cannot write files before an instance starts. It mounts these
// instead, and the agent makes the files above from them.
const (
	// IdentityDir is the folder that the cloud mounts.
	IdentityDir = "/etc/foo/identity"
	// IdentityInstance is the file in it with the Instance as JSON, without its address.
	IdentityInstance = "instance.json"
	// IdentityUserData is the file in it with the bootstrap data.
	IdentityUserData = "user-data"
	// IdentityBackend is the file in it with the address of the backend for which the agent holds
	// connections; empty until there is one.
	IdentityBackend = "backend"
	// IdentityBalanced is the file in it that is empty once load balancers no longer use the instance.
	// Pods of earlier releases do not have it.
	IdentityBalanced = "balanced"
	// PortVariable is the environment variable with the port that load balancers send connections to.
	PortVariable = "FOO_PORT"
	// AddressVariable is the environment variable with the address of the instance.
	AddressVariable = "FOO_ADDRESS"
	// EndVariable is an environment variable. If it is set, the instance ends when its bootstrap
	// data fails, and leaves the reason in TerminationLog.
	EndVariable = "FOO_END_ON_FAILURE"
	// TerminationLog is where Kubernetes looks for the last message of a container.
	TerminationLog = "/dev/termination-log"
)

// Instance is what the cloud tells an instance about itself.
type Instance struct {
	// ID of the instance, unique in the cloud.
	ID string `json:"id"`
	// Name of the instance, unique in its tenant.
	Name string `json:"name"`
	// Hostname of the instance.
	Hostname string `json:"hostname"`
	// ProviderID is the provider ID of the instance's node, foo:///<zone>/<id>.
	ProviderID string `json:"providerID"`
	// Zone is the zone of the instance.
	Zone string `json:"zone"`
	// Type is the instance type, which determines CPUs and memory.
	Type string `json:"type"`
	// CPUs is the number of CPUs that the kubelet reports.
	CPUs int `json:"cpus"`
	// MemoryBytes is the size of the memory that the kubelet reports.
	MemoryBytes int64 `json:"memoryBytes"`
	// KubernetesVersion is the version of the Kubernetes programs in the instance, with its leading
	// v.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Address is the instance's address on the cloud's network.
	Address string `json:"address"`
	// Tags are the tags that the instance was created with.
	Tags map[string]string `json:"tags,omitempty"`
}

const (
	// ReportDir is a folder of the instance that the cloud watches. The instance replaces
	// ReportFile in it atomically on each change, so that a reader never sees half of it.
	ReportDir = RunDir + "/report"
	// ReportFile holds the Report as JSON.
	ReportFile = "status.json"
)

// Report describes how far an instance has progressed.
type Report struct {
	// Phase of the instance.
	Phase Phase `json:"phase"`
	// Bootstrap of the instance.
	Bootstrap Bootstrap `json:"bootstrap"`
	// Warnings describe what does not work in this instance although it runs, for example mounts
	// that are not shared.
	Warnings []string `json:"warnings,omitempty"`
}

// Phase is the phase in an instance's life.
type Phase string

const (
	// PhaseBooting lasts until the container runtime answers.
	PhaseBooting Phase = "Booting"
	// PhaseRunning begins when the container runtime answers.
	PhaseRunning Phase = "Running"
	// PhaseStopping begins when the instance is asked to stop.
	PhaseStopping Phase = "Stopping"
)

// Bootstrap is the reported state of the bootstrap data.
type Bootstrap struct {
	// State of the bootstrap.
	State BootstrapState `json:"state"`
	// Message describes what failed. It contains no secret.
	Message string `json:"message,omitempty"`
}

// BootstrapState is how far the bootstrap data has been processed.
type BootstrapState string

const (
	// BootstrapPending is the state before the first command.
	BootstrapPending BootstrapState = "Pending"
	// BootstrapRunning is the state while commands run.
	BootstrapRunning BootstrapState = "Running"
	// BootstrapSucceeded is the state after all commands have succeeded.
	BootstrapSucceeded BootstrapState = "Succeeded"
	// BootstrapFailed is the state after a command has failed or the data could not be read; it is
	// final.
	BootstrapFailed BootstrapState = "Failed"
)
