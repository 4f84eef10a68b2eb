// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons applies add-ons, such as a network plugin or a cloud controller manager, to
// workload clusters.
//
// An add-on is a ConfigMap or a Secret in the namespace of its Clusters. The label
// foo.cluster.x-k8s.io/addon names it. Each key of its data holds manifests: YAML with any number
// of documents, or JSON. Both may contain lists of objects. As with Cluster API's
// ClusterResourceSets, labels of Clusters determine which Clusters get it:
//
//	apiVersion: v1
//	kind: ConfigMap
//	metadata:
//	  name: cni-1.36
//	  labels:
//	    foo.cluster.x-k8s.io/addon: cni
//	    clusterctl.cluster.x-k8s.io/move: ""
//	  annotations:
//	    foo.cluster.x-k8s.io/cluster-selector: cni=calico
//	    foo.cluster.x-k8s.io/kubernetes-versions: ">=1.36.0 <1.37.0"
//	    foo.cluster.x-k8s.io/apply: after-initialization,before-upgrade
//	data:
//	  manifests.yaml: ...
//
// If several ConfigMaps or Secrets have the name of an add-on, they are its variants. At most one
// of them may fit a Cluster, its Kubernetes version and the moment. Pre-releases come before their
// release: v1.36.0-rc.1 is not >=1.36.0.
//
// Objects are applied with server-side apply and a dedicated field manager. Fields in a manifest
// override what others have set; fields that are not in it stay as others set them. Namespaces and
// CRDs are applied first and webhooks last. An object of an unknown kind is retried, because
// another add-on may define the kind. Objects without a namespace are applied to "default". All
// objects get the label foo.cluster.x-k8s.io/from-addon with the name of the add-on. If any part of
// an add-on cannot be read, the whole add-on is left out; the others are applied, and the hook
// waits for it.
//
// Limits: nothing is pruned. Objects that an earlier variant had and a later one has not stay in
// the cluster. Removing them would need an inventory of what was applied, which is not kept.
// Applied does not mean ready: nothing is waited for once the API server has accepted the objects.
// Each ConfigMap, Secret and object is limited to the 1 MiB or so that an API server stores, so a
// larger add-on must be split into several with different names. A Cluster gets at most 1000
// objects. Manifests cannot contain variables. generateName is not supported, because such an
// object could not be found again.
package addons
