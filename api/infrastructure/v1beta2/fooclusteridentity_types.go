// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// FooClusterIdentityFinalizer keeps a FooClusterIdentity until no FooCluster uses it.
	FooClusterIdentityFinalizer = "infrastructure.cluster.x-k8s.io/fooclusteridentity"
	// FooClusterIdentitySecretType is the type that the Secret of a FooClusterIdentity must have.
	// It prevents an identity from taking over a Secret that is meant for something else, and from
	// making the manager send that token to an endpoint of the identity's choice.
	FooClusterIdentitySecretType = "infrastructure.cluster.x-k8s.io/foocluster-identity"
	// FooClusterIdentityTokenKey is the key of the tenant's token in the Secret of a
	// FooClusterIdentity.
	FooClusterIdentityTokenKey = "token"
)

// CloudKind is a kind of cloud.
// +kubebuilder:validation:Enum=Local;Kubernetes
type CloudKind string

const (
	// CloudLocal is a Foo cloud on a machine, served by foocloud.
	CloudLocal CloudKind = "Local"
	// CloudKubernetes is a namespace of a Kubernetes cluster, in which instances are Pods.
	CloudKubernetes CloudKind = "Kubernetes"
)

// FooClusterIdentitySpec holds the endpoint of a tenant's cloud, its credentials, and who may use
// it.
type FooClusterIdentitySpec struct {
	// cloud is the kind of the cloud: Local for foocloud, or Kubernetes for a namespace of a
	// Kubernetes cluster, in which instances are Pods and load balancers are Services. Defaults to
	// Local. It is immutable.
	// +optional
	Cloud CloudKind `json:"cloud,omitempty"`

	// endpoint of the cloud: https://host:port, or unix:///path for a socket on the manager's host.
	// For a Kubernetes cluster, it is https://host:port of its API server. The field is immutable:
	// existing instances would not be found in another cloud.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpoint is immutable: existing resources would not be found in another cloud; create another FooClusterIdentity (see kubectl explain fooclusteridentities.spec.endpoint)"
	Endpoint string `json:"endpoint,omitempty"`

	// tenant that owns the token. The cloud rejects requests with the token of another tenant, so that
	// nothing is created for the wrong tenant, or considered missing because the wrong tenant was
	// queried. For a Kubernetes cluster, it is the namespace. The field is immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tenant is immutable: existing resources would not be found with another tenant; create another FooClusterIdentity (see kubectl explain fooclusteridentities.spec.tenant)"
	Tenant string `json:"tenant,omitempty"`

	// caBundle is the PEM bundle of certificates that verify an https endpoint. Defaults to the
	// certificates of the system.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	CABundle []byte `json:"caBundle,omitempty"`

	// credentialsRef names the Secret that holds the tenant's token under the key token. For a
	// Kubernetes cluster, it is the token of a service account. The type of the Secret must be
	// infrastructure.cluster.x-k8s.io/foocluster-identity, so that no other Secret can be used. The
	// identity becomes an owner of the Secret: clusterctl moves both together, and the Secret is
	// deleted with its last owner. A change to the Secret takes effect at once.
	// +required
	CredentialsRef FooClusterIdentitySecretReference `json:"credentialsRef,omitempty,omitzero"`

	// allowedNamespaces are the namespaces whose FooClusters may use the identity. If not set, no
	// namespace may use it. An empty selector allows all.
	// +optional
	AllowedNamespaces AllowedNamespaces `json:"allowedNamespaces,omitempty,omitzero"`
}

// FooClusterIdentitySecretReference names a Secret.
type FooClusterIdentitySecretReference struct {
	// namespace of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// AllowedNamespaces selects namespaces by name or by label. A namespace is allowed if it is in the
// list or matches the selector.
// +kubebuilder:validation:MinProperties=1
type AllowedNamespaces struct {
	// list of namespace names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	List []string `json:"list,omitempty"`

	// selector of namespaces by their labels. An empty selector selects all.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// FooClusterIdentityStatus is the observed state of a FooClusterIdentity.
// +kubebuilder:validation:MinProperties=1
type FooClusterIdentityStatus struct {
	// conditions are the observations of the identity's current state. The known type is Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// FooClusterIdentity is a tenant of a cloud that FooClusters of selected namespaces may use.
// clusterctl moves it and its Secret together with them.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=fooclusteridentities,shortName=fooid,scope=Cluster,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io/move-hierarchy="
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the cloud accepts the credentials"
// +kubebuilder:printcolumn:name="Cloud",type="string",JSONPath=".spec.cloud",description="Kind of the cloud"
// +kubebuilder:printcolumn:name="Tenant",type="string",JSONPath=".spec.tenant",description="Tenant of the cloud"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.endpoint",description="Endpoint of the cloud"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooClusterIdentity struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec FooClusterIdentitySpec `json:"spec,omitempty,omitzero"`
	// status is the observed state.
	// +optional
	Status FooClusterIdentityStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions of the object.
func (i *FooClusterIdentity) GetConditions() []metav1.Condition { return i.Status.Conditions }

// SetConditions replaces the conditions of the object.
func (i *FooClusterIdentity) SetConditions(conditions []metav1.Condition) {
	i.Status.Conditions = conditions
}

// FooClusterIdentityList is a list of FooClusterIdentities.
//
// +kubebuilder:object:root=true
type FooClusterIdentityList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooClusterIdentities.
	Items []FooClusterIdentity `json:"items"`
}
