// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// observation is a workload cluster as it was read. Parts that were not asked for are empty.
type observation struct {
	// unreadable says what could not be read and why. The parts that it names are empty.
	unreadable []string
	// failed are the checks that the API server itself reports as failed, for each of its endpoints.
	failed []failedProbe
	// nodes of the cluster.
	nodes []node
	// static are the control plane's static pods by name.
	static map[string]staticPod
	// dns is the cluster's DNS service.
	dns dns
	// budgets are those that allow no disruption.
	budgets []budget
	// deprecated are the APIs that were requested and will be removed.
	deprecated []deprecatedAPI
	// versions are those that machines can be made of; nil if nobody can say.
	versions []string
}

// failedProbe is an endpoint of the API server that reports itself as not well.
type failedProbe struct {
	// path of the endpoint.
	path string
	// checks that failed by its own account; empty if it does not say.
	checks []string
}

// node is a Node.
type node struct {
	name string
	// kubelet is the version of its kubelet.
	kubelet      string
	ready        bool
	controlPlane bool
}

// staticPod is a static pod of the control plane.
type staticPod struct {
	ready bool
}

// dns is the DNS service that kubeadm installs.
type dns struct {
	// service and deployment say whether they are there.
	service, deployment bool
	// available is how many replicas of the Deployment are available, endpoints how many endpoints of the Service are ready.
	available, endpoints int
}

// budget is a PodDisruptionBudget, and the pods that it is for.
type budget struct {
	policyv1.PodDisruptionBudget

	pods []corev1.Pod
}

// deprecatedAPI is an API that somebody requested.
type deprecatedAPI struct {
	group, version, resource string
	// removed is the release without it, such as 1.37; empty if none is planned.
	removed string
}
