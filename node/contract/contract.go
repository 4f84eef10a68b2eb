// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contract is what the cloud and the node agent agree on: where things are in an instance, what the cloud tells it about itself,
// and what it reports. A cloud that makes instances otherwise has to keep to it.
package contract

// Folders of an instance that the cloud fills.
const (
	// AgentDir has the node agent, AgentName, and its links.
	AgentDir  = "/opt/foo/bin"
	AgentName = "foonode"
	// KubernetesDir has the Kubernetes programs of the instance's version.
	KubernetesDir = "/opt/foo/kubernetes"
	// RuntimeDir has containerd, its shim and ctr.
	RuntimeDir = "/opt/foo/runtime/bin"
	// StoreDir has the unpacked container images.
	StoreDir = "/opt/foo/store"
	// RunDir has the files that differ between instances.
	RunDir = "/run/foo"
)

// SearchPath is PATH of everything in an instance: its own programs come before the operating system's.
const SearchPath = KubernetesDir + ":" + AgentDir + ":" + RuntimeDir + ":" + SystemPath

// SystemPath has the operating system's programs.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Files that the cloud writes before the instance starts.
const (
	// InstanceFile has the Instance as JSON.
	InstanceFile = RunDir + "/instance.json"
	// UserDataFile has the bootstrap data; only root may read it.
	UserDataFile = RunDir + "/user-data"
)

// Instance is what the cloud tells an instance about itself.
type Instance struct {
	// ID of the instance, unique in the cloud.
	ID string `json:"id"`
	// Name of the instance, unique in its tenant.
	Name string `json:"name"`
	// Hostname of the instance.
	Hostname string `json:"hostname"`
	// ProviderID that its node gets, foo:///<zone>/<id>.
	ProviderID string `json:"providerID"`
	// Zone that the instance is in.
	Zone string `json:"zone"`
	// Type of the instance, which its CPUs and memory come from.
	Type string `json:"type"`
	// CPUs that the kubelet reports.
	CPUs int `json:"cpus"`
	// MemoryBytes that the kubelet reports.
	MemoryBytes int64 `json:"memoryBytes"`
	// KubernetesVersion of the programs in the instance, with its leading v.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Address of the instance on the cloud's network.
	Address string `json:"address"`
	// Tags that the instance was made with.
	Tags map[string]string `json:"tags,omitempty"`
}

const (
	// ReportDir is a folder of the instance that the cloud watches. The instance replaces ReportFile in it as a whole at each change, so
	// that a reader never sees half of it.
	ReportDir = RunDir + "/report"
	// ReportFile has the Report as JSON.
	ReportFile = "status.json"
)

// Report is how far an instance is.
type Report struct {
	// Phase of the instance.
	Phase Phase `json:"phase"`
	// Bootstrap of the instance.
	Bootstrap Bootstrap `json:"bootstrap"`
	// Warnings name what does not work in this instance though it runs, for example mounts that are not shared.
	Warnings []string `json:"warnings,omitempty"`
}

// Phase is where an instance is in its life.
type Phase string

const (
	// PhaseBooting is until the container runtime answers.
	PhaseBooting Phase = "Booting"
	// PhaseRunning is from then on.
	PhaseRunning Phase = "Running"
	// PhaseStopping is once the instance was asked to end.
	PhaseStopping Phase = "Stopping"
)

// Bootstrap is what is reported of the bootstrap data.
type Bootstrap struct {
	// State of the bootstrap.
	State BootstrapState `json:"state"`
	// Message says what failed. It holds no secret.
	Message string `json:"message,omitempty"`
}

// BootstrapState is how far the bootstrap data has been worked through.
type BootstrapState string

const (
	// BootstrapPending is before the first command.
	BootstrapPending BootstrapState = "Pending"
	// BootstrapRunning is while commands run.
	BootstrapRunning BootstrapState = "Running"
	// BootstrapSucceeded is after all commands ended well.
	BootstrapSucceeded BootstrapState = "Succeeded"
	// BootstrapFailed is after a command failed or the data could not be read; it is final.
	BootstrapFailed BootstrapState = "Failed"
)
