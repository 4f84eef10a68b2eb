/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// maxFailureDomains is how many the API accepts.
const maxFailureDomains = 100

// ownedConditions are those that nobody else sets.
var ownedConditions = []string{
	infrav1.FooClusterReadyCondition,
	infrav1.FooClusterLoadBalancerReadyCondition,
	infrav1.FooClusterFailureDomainsReadyCondition,
	infrav1.DeletingCondition,
}

// setStatus sets the whole status from the scope, always all conditions.
//
//contract:infra-cluster/conditions
//contract:infra-cluster/initialization-completed
//contract:infra-cluster/terminal-failures
func setStatus(s *scope) {
	status := &s.fooCluster.Status
	status.ObservedGeneration = s.fooCluster.Generation
	if s.zones != nil {
		status.FailureDomains = failureDomains(s.zones)
	}
	loadBalancer, domains, deleting := loadBalancerCondition(s), failureDomainsCondition(s), deletingCondition(s)
	ready := report.Ready(loadBalancer, domains)
	if s.deleting() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, infrav1.FooClusterDeletingReason, deleting.Message
	}
	for _, c := range []metav1.Condition{loadBalancer, domains, deleting, ready} {
		conditions.Set(s.fooCluster, c)
	}
	// Never back to false: Cluster API orders the first provisioning by it, and Ready tells of what comes later.
	if ready.Status == metav1.ConditionTrue && kubeconfigWait(s) == 0 {
		status.Initialization.Provisioned = ptr.To(true)
	}
}

// kubeconfigGrace is how long a FooCluster that is ready waits for the control plane's kubeconfig. A control plane that
// makes it from the FooCluster's endpoint needs far less; one that first waits for the FooCluster never makes it.
const kubeconfigGrace = 2 * time.Second

// kubeconfigWait is how much longer to wait before the FooCluster is reported as provisioned, and zero when it is not
// ready or need not wait. Cluster API connects to the workload cluster as soon as that is reported, and where it finds no
// kubeconfig it tries again only after 30 s; until then no worker gets its bootstrap data.
func kubeconfigWait(s *scope) time.Duration {
	ready := conditions.Get(s.fooCluster, infrav1.FooClusterReadyCondition)
	if !s.kubeconfigMissing || ready == nil || ready.Status != metav1.ConditionTrue {
		return 0
	}
	return max(0, ready.LastTransitionTime.Add(kubeconfigGrace).Sub(s.now))
}

// failureDomains are the zones as failure domains, sorted by name so that they compare equal from one to the next.
//
//contract:infra-cluster/failure-domains
func failureDomains(zones []cloud.Zone) []clusterv1.FailureDomain {
	domains := make([]clusterv1.FailureDomain, 0, len(zones))
	for _, zone := range zones {
		domains = append(domains, clusterv1.FailureDomain{Name: zone.Name, ControlPlane: ptr.To(zone.ControlPlane)})
	}
	slices.SortFunc(domains, func(a, b clusterv1.FailureDomain) int { return strings.Compare(a.Name, b.Name) })
	return domains[:min(len(domains), maxFailureDomains)]
}

func loadBalancerCondition(s *scope) metav1.Condition {
	c := metav1.Condition{Type: infrav1.FooClusterLoadBalancerReadyCondition, Status: metav1.ConditionFalse}
	endpoint := s.fooCluster.Spec.ControlPlaneEndpoint
	switch {
	case !s.loadBalancerFault.IsZero():
		c.Reason, c.Message = s.loadBalancerFault.Reason, s.loadBalancerFault.Message
	case s.deleting():
		c.Reason = infrav1.FooClusterLoadBalancerDeletingReason
	case s.loadBalancer == nil:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterEndpointProvidedReason
	case s.loadBalancer.Address != endpoint.Host:
		// The endpoint stands in certificates and kubeconfigs, so the controller can not just take the new address.
		c.Reason = infrav1.FooClusterLoadBalancerNotReadyReason
		c.Message = fmt.Sprintf("the load balancer has address %q, but the control plane endpoint is %q: the load balancer was lost and made again",
			s.loadBalancer.Address, endpoint.Host)
	case !s.loadBalancer.Ready:
		c.Reason, c.Message = infrav1.FooClusterLoadBalancerNotReadyReason, s.loadBalancer.Message
	default:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterLoadBalancerReadyReason
	}
	return c
}

func failureDomainsCondition(s *scope) metav1.Condition {
	c := metav1.Condition{Type: infrav1.FooClusterFailureDomainsReadyCondition, Status: metav1.ConditionFalse}
	isControlPlane := func(d clusterv1.FailureDomain) bool { return ptr.Deref(d.ControlPlane, false) }
	switch {
	case !s.zonesFault.IsZero():
		c.Reason, c.Message = s.zonesFault.Reason, s.zonesFault.Message
	case slices.ContainsFunc(s.fooCluster.Status.FailureDomains, isControlPlane):
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterFailureDomainsReadyReason
	default:
		c.Reason, c.Message = infrav1.FooClusterNoFailureDomainsReason, "the cloud has no zone for control planes"
	}
	return c
}

func deletingCondition(s *scope) metav1.Condition {
	c := metav1.Condition{Type: infrav1.DeletingCondition, Status: metav1.ConditionTrue}
	switch {
	case !s.deleting():
		c.Status, c.Reason = metav1.ConditionFalse, infrav1.NotDeletingReason
	case s.gone:
		c.Reason = infrav1.DeletionCompletedReason
	case !s.loadBalancerFault.IsZero():
		c.Reason, c.Message = infrav1.DeletingReason, "the load balancer can not be deleted: "+s.loadBalancerFault.Message
	default:
		c.Reason, c.Message = infrav1.DeletingReason, "waiting for the load balancer to go"
	}
	return c
}
