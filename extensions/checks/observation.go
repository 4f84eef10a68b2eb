// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// observation is what was read from a workload cluster. Parts that were not requested are empty.
type observation struct {
	// unreadable describes what could not be read, and why. The parts that it names are empty.
	unreadable []string
	// failed are the checks that the API server itself reports as failed, by endpoint.
	failed []failedProbe
	// nodes of the cluster.
	nodes []node
	// static holds whether the control plane's static pods are ready, by name.
	static map[string]bool
	// dns is the cluster's DNS service.
	dns dns
	// budgets are the disruption budgets that allow no disruption.
	budgets []budget
	// deprecated are the deprecated APIs that were requested.
	deprecated []deprecatedAPI
	// versions are the versions that are available for machines, or nil if they are unknown.
	versions []string
}

// failedProbe is an endpoint of the API server that reports a failure.
type failedProbe struct {
	// path of the endpoint.
	path string
	// checks that the API server itself reports as failed. It is empty if the API server names
	// none.
	checks []string
}

type node struct {
	name string
	// kubelet is the version of its kubelet.
	kubelet      string
	ready        bool
	controlPlane bool
}

// dns is the DNS service that kubeadm installs.
type dns struct {
	// service and deployment report whether the objects exist.
	service, deployment bool
	// available is the number of available replicas of the Deployment, and endpoints the number
	// of ready endpoints of the Service.
	available, endpoints int
}

// budget is a PodDisruptionBudget and the pods that it selects.
type budget struct {
	policyv1.PodDisruptionBudget

	pods []corev1.Pod
}

// deprecatedAPI is a deprecated API that somebody requested.
type deprecatedAPI struct {
	group, version, resource string
	// removed is the release that removes it, such as 1.37. It is empty if no removal is
	// planned.
	removed string
}
