// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import "sigs.k8s.io/controller-runtime/pkg/client"

const (
	// AddonLabel on a ConfigMap or Secret names its add-on.
	AddonLabel = "foo.cluster.x-k8s.io/addon"
	// ClusterSelectorAnnotation holds a label selector for the Clusters that get the add-on, in
	// the form of kubectl --selector, for example "cni=calico,env in (test,stage)". Without it,
	// all Clusters in the namespace get the add-on.
	ClusterSelectorAnnotation = "foo.cluster.x-k8s.io/cluster-selector"
	// VersionsAnnotation holds the range of Kubernetes versions that the variant is for, for
	// example ">=1.35.0 <1.37.0" or "1.35.x || 1.36.x". Without it, the variant is for all
	// versions.
	VersionsAnnotation = "foo.cluster.x-k8s.io/kubernetes-versions"
	// ApplyAnnotation holds the moments at which the variant is applied, separated by commas.
	// The default is after-initialization.
	ApplyAnnotation = "foo.cluster.x-k8s.io/apply"
	// FromAddonLabel marks objects that were applied in workload clusters, so that they can be
	// found. Its value is the name of the add-on. It differs from AddonLabel, so that nothing
	// becomes an add-on in a cluster that manages itself.
	FromAddonLabel = "foo.cluster.x-k8s.io/from-addon"
)

// Moment is when an add-on is applied.
type Moment string

const (
	// AfterInitialization is when the control plane of a new Cluster first serves.
	AfterInitialization Moment = "after-initialization"
	// BeforeUpgrade is before each step of an upgrade of the control plane. The variant for the
	// version of the step is applied.
	BeforeUpgrade Moment = "before-upgrade"
)

// FieldOwner is the field manager for applied objects.
const FieldOwner = client.FieldOwner("foo-addons")
