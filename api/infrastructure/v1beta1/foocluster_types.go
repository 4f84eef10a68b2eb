// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

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
	IdentityRef *FooClusterIdentityReference `json:"identityRef,omitempty"`

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

// FooClusterIdentityReference names a FooClusterIdentity. That kind exists in v1beta2 only.
type FooClusterIdentityReference struct {
	// name of the FooClusterIdentity.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// APIEndpoint is a reachable Kubernetes API endpoint. Both fields are set, or both are empty.
// +kubebuilder:validation:XValidation:rule="(has(self.host) && self.host != \"\") == (has(self.port) && self.port != 0)",message="host and port must be set together (see kubectl explain fooclusters.spec.controlPlaneEndpoint)"
type APIEndpoint struct {
	// host is the DNS name or IP address of the API server.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host"`

	// port is the TCP port of the API server.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// FooClusterStatus is the observed state of a FooCluster.
type FooClusterStatus struct {
	ContractStatus `json:",inline"`

	// failureDomains are the zones of the cloud, by name.
	// +optional
	FailureDomains clusterv1beta1.FailureDomains `json:"failureDomains,omitempty"`
}

// FooCluster is the infrastructure that the machines of one cluster share: its load balancer and
// its failure domains.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=fooclusters,shortName=fooc,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this FooCluster belongs"
// +kubebuilder:printcolumn:name="Ready",type="boolean",JSONPath=".status.ready",description="Whether the infrastructure has been fully provisioned"
// +kubebuilder:printcolumn:name="Host",type="string",JSONPath=".spec.controlPlaneEndpoint.host",description="Host of the control plane endpoint"
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
