// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooClusterSpec is the desired state of a FooCluster.
type FooClusterSpec struct {
	// controlPlaneEndpoint is the address of the cluster's API server. If it is empty, the
	// controller creates a load balancer and writes its address here. If the user sets it, the
	// endpoint is used as it is and no load balancer is created.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// identityRef names the FooClusterIdentity whose cloud and tenant own all load balancers,
	// instances and pools of the cluster. If it is empty, they belong to the cloud that the manager
	// is configured with. The identity must allow the FooCluster's namespace. The field is
	// immutable: existing resources would not be found with another tenant and would be left
	// behind. To use other credentials, change the Secret that the identity names.
	// +optional
	IdentityRef *FooClusterIdentityReference `json:"identityRef,omitempty"`
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
