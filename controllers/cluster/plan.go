// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// loadBalancerAnnotation marks a FooCluster whose endpoint belongs to its own load balancer, and
// names that load balancer. Without it, the endpoint of a lost load balancer would look like one
// that the user set.
const loadBalancerAnnotation = "infrastructure.cluster.x-k8s.io/load-balancer"

// defaultPort is the port of an API server whose Cluster sets none.
const defaultPort = 6443

// action is what to do next.
type action string

const (
	// ensureLoadBalancer orders the load balancer, or updates it.
	ensureLoadBalancer action = "EnsureLoadBalancer"
	// useProvidedEndpoint uses the endpoint that the user has set.
	useProvidedEndpoint action = "UseProvidedEndpoint"
	// waitForUsers keeps the FooCluster and its load balancer until its machines are gone.
	waitForUsers action = "WaitForUsers"
	// deleteLoadBalancer deletes the load balancer, or confirms that it is gone.
	deleteLoadBalancer action = "DeleteLoadBalancer"
)

// decision is the next action and its inputs.
type decision struct {
	action       action
	loadBalancer cloud.LoadBalancerSpec
	endpoint     infrav1.APIEndpoint
}

// decide returns what to do next. The load balancer is deleted last: machines are drained through
// it.
func decide(s *state) decision {
	if s.deleting() && len(s.users) > 0 {
		return decision{action: waitForUsers}
	}
	if s.deleting() {
		return decision{action: deleteLoadBalancer, loadBalancer: cloud.LoadBalancerSpec{Name: s.owner().CloudName()}}
	}
	if endpoint := providedEndpoint(s); !endpoint.IsZero() {
		return decision{action: useProvidedEndpoint, endpoint: endpoint}
	}
	cluster := client.ObjectKeyFromObject(s.cluster)
	return decision{action: ensureLoadBalancer, loadBalancer: cloud.LoadBalancerSpec{
		Name: s.owner().CloudName(),
		Tags: s.owner().Tags(cluster, s.fooCluster.Spec.AdditionalTags),
		// A load balancer cannot change its port, so the endpoint's port counts once it is set.
		Port:       cmp.Or(s.fooCluster.Spec.ControlPlaneEndpoint.Port, s.fooCluster.Spec.LoadBalancer.Port, apiServerPort(s)),
		TargetPort: apiServerPort(s),
		Selector:   ownertags.RoleSelector(cluster, ownertags.RoleControlPlane),
	}}
}

// providedEndpoint returns the endpoint that the user set on the FooCluster, or on the Cluster
// before the FooCluster got one. It is zero if the load balancer provides the endpoint.
func providedEndpoint(s *state) infrav1.APIEndpoint {
	if _, own := s.fooCluster.Annotations[loadBalancerAnnotation]; own {
		return infrav1.APIEndpoint{}
	}
	if !s.fooCluster.Spec.ControlPlaneEndpoint.IsZero() {
		return s.fooCluster.Spec.ControlPlaneEndpoint
	}
	endpoint := s.cluster.Spec.ControlPlaneEndpoint
	if !endpoint.IsValid() {
		return infrav1.APIEndpoint{}
	}
	return infrav1.APIEndpoint{Host: endpoint.Host, Port: endpoint.Port}
}

// apiServerPort returns the port on which the API servers listen.
func apiServerPort(s *state) int32 {
	return cmp.Or(s.cluster.Spec.ClusterNetwork.APIServerPort, defaultPort)
}

// chooseZones returns the zones of the cloud that the FooCluster uses, all of them if it names
// none, and an InvalidError if it names a zone that the cloud does not have. If the cloud has none of
// them, it returns nil: without any failure domain, machines would go to zones that nobody named.
func chooseZones(wanted []infrav1.FooClusterZone, offered []cloud.Zone) ([]cloud.Zone, error) {
	if len(wanted) == 0 {
		return offered, nil
	}
	names := make([]string, 0, len(offered))
	for _, zone := range offered {
		names = append(names, zone.Name)
	}
	var chosen []cloud.Zone
	var err error
	for _, zone := range wanted {
		place := slices.Index(names, zone.Name)
		if place < 0 {
			err = &cloud.InvalidError{Field: "spec.zones", Value: zone.Name, Problem: "the cloud has no such zone", Allowed: names}
			continue
		}
		chosen = append(chosen, cloud.Zone{Name: zone.Name, ControlPlane: ptr.Deref(zone.ControlPlane, offered[place].ControlPlane)})
	}
	return chosen, err
}
