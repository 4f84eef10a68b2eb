// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FooClusterFinalizer keeps a FooCluster until its load balancer is gone from the cloud.
const FooClusterFinalizer = "infrastructure.cluster.x-k8s.io/foocluster"

// FooClusterSpec is the desired state of a FooCluster.
type FooClusterSpec struct {
	// controlPlaneEndpoint is the address of the cluster's API server. If it is empty, the controller
	// creates a load balancer and writes its address here. If the user sets it, the endpoint is used
	// as is and no load balancer is created.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// identityRef names the FooClusterIdentity whose cloud and tenant own all load balancers,
	// instances and pools of the cluster. If it is empty, they belong to the cloud that the manager
	// is configured with. The identity must allow the FooCluster's namespace. The field is
	// immutable: existing resources would not be found with another tenant and would be left
	// behind. To use other credentials, change the Secret that the identity names.
	// +optional
	IdentityRef FooClusterIdentityReference `json:"identityRef,omitempty,omitzero"`

	// loadBalancer is the load balancer that the controller creates.
	// +optional
	LoadBalancer FooClusterLoadBalancer `json:"loadBalancer,omitempty,omitzero"`

	// zones are the zones of the cloud that the cluster's machines are placed in. Defaults to all
	// zones. Cluster API gets them as failure domains. A change applies to new machines. The
	// condition FailureDomainsReady reports an unknown zone and lists the available ones.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Zones []FooClusterZone `json:"zones,omitempty"`

	// additionalTags are tags of the load balancer and of all instances of the cluster in the cloud.
	// They are added to Foo's own tags. The field is immutable, because the tags of an instance cannot change.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) >= 1 && size(key) <= 128 && size(self[key]) <= 256)",message="keys must have 1 to 128 characters, and values at most 256 (see kubectl explain fooclusters.spec.additionalTags)"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.contains('cluster.x-k8s.io/'))",message="keys must not contain cluster.x-k8s.io/, which is reserved for Foo's own tags (see kubectl explain fooclusters.spec.additionalTags)"
	AdditionalTags map[string]string `json:"additionalTags,omitempty"`
}

// FooClusterLoadBalancer is the load balancer of a cluster's API servers.
// +kubebuilder:validation:MinProperties=1
type FooClusterLoadBalancer struct {
	// port is the TCP port on which the load balancer listens. Defaults to the port of the API
	// servers: spec.clusterNetwork.apiServerPort of the Cluster, or 6443. This field does not change
	// their port. The field is immutable.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// FooClusterZone is a zone of a cluster.
type FooClusterZone struct {
	// name of the zone in the cloud.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// controlPlane specifies whether the zone is for control plane machines. Defaults to what the
	// cloud specifies for the zone.
	// +optional
	ControlPlane *bool `json:"controlPlane,omitempty"`
}

// FooClusterIdentityReference names a FooClusterIdentity.
type FooClusterIdentityReference struct {
	// name of the FooClusterIdentity.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// IsDefined reports whether an identity is named.
func (r FooClusterIdentityReference) IsDefined() bool { return r.Name != "" }

// APIEndpoint is a reachable Kubernetes API endpoint.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="has(self.host) == has(self.port)",message="host and port must be set together (see kubectl explain fooclusters.spec.controlPlaneEndpoint)"
type APIEndpoint struct {
	// host is the DNS name or IP address of the API server.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// port is the TCP port of the API server.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// IsZero reports whether the endpoint is not set.
func (e APIEndpoint) IsZero() bool { return e == APIEndpoint{} }

// FooClusterStatus is the observed state of a FooCluster. It has no field for terminal failures:
// conditions report them.
//
// +kubebuilder:validation:MinProperties=1
type FooClusterStatus struct {
	// conditions are the observations of the FooCluster's current state.
	// Known types are Ready, LoadBalancerReady, FailureDomainsReady, Deleting and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization reports the first provisioning of the cluster's infrastructure. Cluster API
	// uses it to start what depends on the infrastructure.
	// +optional
	Initialization FooClusterInitializationStatus `json:"initialization,omitempty,omitzero"`

	// failureDomains are the zones of the cluster, sorted by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// FooClusterInitializationStatus reports the first provisioning of a cluster's infrastructure.
// +kubebuilder:validation:MinProperties=1
type FooClusterInitializationStatus struct {
	// provisioned is true once the cluster's infrastructure has been fully provisioned; it never
	// goes back to false.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// FooCluster is the infrastructure that the machines of one cluster share: its load balancer and
// its failure domains.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=fooclusters,shortName=fooc,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this FooCluster belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the infrastructure works"
// +kubebuilder:printcolumn:name="Provisioned",type="boolean",JSONPath=".status.initialization.provisioned",description="Whether the infrastructure has been fully provisioned"
// +kubebuilder:printcolumn:name="Host",type="string",JSONPath=".spec.controlPlaneEndpoint.host",description="Host of the control plane endpoint"
// +kubebuilder:printcolumn:name="Port",type="integer",JSONPath=".spec.controlPlaneEndpoint.port",description="Port of the control plane endpoint",priority=10
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether reconciliation is paused",priority=10
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooCluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooClusterSpec `json:"spec,omitempty,omitzero"`
	// status is the observed state.
	// +optional
	Status FooClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions of the object.
func (c *FooCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions of the object.
func (c *FooCluster) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// FooClusterList is a list of FooClusters.
//
// +kubebuilder:object:root=true
type FooClusterList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooClusters.
	Items []FooCluster `json:"items"`
}
