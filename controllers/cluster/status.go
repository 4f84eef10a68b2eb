// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

// maxFailureDomains is the API's limit.
const maxFailureDomains = 100

// ownedConditions are the conditions that only this controller sets.
var ownedConditions = []string{
	infrav1.FooClusterReadyCondition,
	infrav1.FooClusterLoadBalancerReadyCondition,
	infrav1.FooClusterFailureDomainsReadyCondition,
	infrav1.DeletingCondition,
}

// eventKinds maps the reasons that are worth an event to the event's type.
var eventKinds = cloudfault.EventKinds(report.Kinds{
	infrav1.FooClusterLoadBalancerReadyReason: corev1.EventTypeNormal,
	infrav1.FooClusterEndpointProvidedReason:  corev1.EventTypeNormal,
	infrav1.DeletingReason:                    corev1.EventTypeNormal,
	infrav1.FooClusterNoFailureDomainsReason:  corev1.EventTypeWarning,
})

// setStatus sets the whole status, including every condition.
func setStatus(s *state, d decision, o outcome) {
	status := &s.fooCluster.Status
	status.ObservedGeneration = s.fooCluster.Generation
	if o.zones != nil {
		status.FailureDomains = failureDomains(o.zones)
	}
	loadBalancer, domains, deleting := loadBalancerCondition(s, d, o), failureDomainsCondition(s, o), deletingCondition(s, o)
	ready := report.Ready(loadBalancer, domains)
	if s.deleting() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, infrav1.FooClusterDeletingReason, deleting.Message
	}
	for _, c := range []metav1.Condition{loadBalancer, domains, deleting, ready} {
		conditions.Set(s.fooCluster, c)
	}
	// Never set it back to false: Cluster API uses it to order the initial provisioning, and Ready
	// reports what happens later.
	if ready.Status == metav1.ConditionTrue && kubeconfigWait(s) == 0 {
		status.Initialization.Provisioned = ptr.To(true)
	}
}

// kubeconfigGrace is how long a FooCluster waits for the control plane's kubeconfig. A control
// plane that creates it from the FooCluster's endpoint needs far less; one that first waits for the
// FooCluster never creates it.
const kubeconfigGrace = 2 * time.Second

// kubeconfigWait returns how much longer to wait before reporting the FooCluster as provisioned;
// zero means no wait. Cluster API connects to the workload cluster as soon as that is reported. If
// it finds no kubeconfig, it retries only after 30 s, and until then no worker gets its bootstrap
// data.
func kubeconfigWait(s *state) time.Duration {
	if s.kubeconfigMissing.IsZero() {
		return 0
	}
	return max(0, s.kubeconfigMissing.Add(kubeconfigGrace).Sub(s.now))
}

// failureDomains returns the zones as failure domains, sorted by name so that they compare equal
// between reconciles.
func failureDomains(zones []cloud.Zone) []clusterv1.FailureDomain {
	domains := make([]clusterv1.FailureDomain, 0, len(zones))
	for _, zone := range zones {
		domains = append(domains, clusterv1.FailureDomain{Name: zone.Name, ControlPlane: ptr.To(zone.ControlPlane)})
	}
	slices.SortFunc(domains, func(a, b clusterv1.FailureDomain) int { return strings.Compare(a.Name, b.Name) })
	return domains[:min(len(domains), maxFailureDomains)]
}

func loadBalancerCondition(s *state, d decision, o outcome) metav1.Condition {
	c := metav1.Condition{Type: infrav1.FooClusterLoadBalancerReadyCondition, Status: metav1.ConditionFalse}
	endpoint := s.fooCluster.Spec.ControlPlaneEndpoint
	switch {
	case !o.loadBalancerFault.IsZero():
		c.Reason, c.Message = o.loadBalancerFault.Reason, o.loadBalancerFault.Message
	case d.action == waitForUsers:
		c.Status, c.Reason = metav1.ConditionUnknown, infrav1.FooClusterLoadBalancerDeletingReason
		c.Message = "The load balancer will be deleted after the machines"
	case s.deleting():
		c.Reason = infrav1.FooClusterLoadBalancerDeletingReason
	case o.loadBalancer == nil:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterEndpointProvidedReason
	case o.loadBalancer.Address != endpoint.Host:
		// Certificates and kubeconfigs contain the endpoint, so the controller cannot just adopt
		// the new address.
		c.Reason = infrav1.FooClusterLoadBalancerNotReadyReason
		c.Message = fmt.Sprintf("The load balancer has address %q, but the control plane endpoint is %q: the load balancer was lost and recreated",
			o.loadBalancer.Address, endpoint.Host)
	case !o.loadBalancer.Ready:
		c.Reason, c.Message = infrav1.FooClusterLoadBalancerNotReadyReason, o.loadBalancer.Message
	default:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterLoadBalancerReadyReason
	}
	return c
}

func failureDomainsCondition(s *state, o outcome) metav1.Condition {
	c := metav1.Condition{Type: infrav1.FooClusterFailureDomainsReadyCondition, Status: metav1.ConditionFalse}
	isControlPlane := func(zone cloud.Zone) bool { return zone.ControlPlane }
	switch {
	case s.deleting():
		c.Status, c.Reason = metav1.ConditionUnknown, infrav1.FooClusterDeletingReason
	case !o.zonesFault.IsZero():
		c.Reason, c.Message = o.zonesFault.Reason, o.zonesFault.Message
	case slices.ContainsFunc(o.zones, isControlPlane):
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterFailureDomainsReadyReason
	case len(s.fooCluster.Spec.Zones) > 0:
		c.Reason, c.Message = infrav1.FooClusterNoFailureDomainsReason, "None of spec.zones is for control planes: set controlPlane to true for at least one of them"
	default:
		c.Reason, c.Message = infrav1.FooClusterNoFailureDomainsReason, "The cloud has no zone for control planes"
	}
	return c
}

// maxNamed is how many of the objects that a FooCluster waits for are named in a message.
const maxNamed = 3

func deletingCondition(s *state, o outcome) metav1.Condition {
	c := metav1.Condition{Type: infrav1.DeletingCondition, Status: metav1.ConditionTrue, Reason: infrav1.DeletingReason}
	switch {
	case !s.deleting():
		c.Status, c.Reason = metav1.ConditionFalse, infrav1.NotDeletingReason
	case o.gone:
		c.Reason = infrav1.DeletionCompletedReason
	case len(s.users) > maxNamed:
		c.Message = "Waiting for " + strings.Join(s.users[:maxNamed], ", ") + " and others to be deleted"
	case len(s.users) > 0:
		c.Message = "Waiting for " + strings.Join(s.users, ", ") + " to be deleted"
	case !o.loadBalancerFault.IsZero():
		c.Message = "The load balancer cannot be deleted: " + o.loadBalancerFault.Message
	default:
		c.Message = "Waiting for the load balancer to be deleted"
	}
	return c
}
