// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons applies add-ons, such as a network plugin or a cloud controller manager, to workload clusters.
//
// An add-on is a ConfigMap or a Secret in the namespace of its Clusters. The label foo.cluster.x-k8s.io/addon names it, and
// each key of its data holds manifests: YAML of any number of documents, or JSON, with lists of objects if need be. As with
// Cluster API's ClusterResourceSets, labels of Clusters say which of them get it:
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
// An add-on has several variants if several ConfigMaps or Secrets have its name. At most one of them may fit a Cluster, its
// Kubernetes version and the moment. Pre-releases come before their release: v1.36.0-rc.1 is not >=1.36.0.
//
// Objects are applied on the server's side with a field manager of their own. What a manifest says wins over what others have
// set, and what it does not say stays theirs. Namespaces and definitions of kinds go first and webhooks last. An object whose
// kind is not known yet is tried again, since another add-on may bring it. Objects without a namespace go to "default".
// All get the label foo.cluster.x-k8s.io/from-addon with the name of the add-on. An add-on with anything that cannot be read is left out as a whole; the others are applied, and the hook waits for it.
//
// Limits: nothing is pruned. What an earlier variant had and a later one has not stays in the cluster; to take it away needs
// an inventory of what was applied, which is not kept. Applied is not ready: nothing is waited for once the API server has
// taken the objects. Each ConfigMap, Secret and object has at most the 1 MiB or so that an API server stores, so an add-on
// that is larger must be split into several with names of their own; a Cluster gets at most 1000 objects. No variables are put
// into manifests. An object's generateName is not supported, since it could not be found again.
package addons
