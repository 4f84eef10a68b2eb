// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"maps"
	"slices"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var fooCluster = converter[infrav1.FooCluster, infrav1beta1.FooCluster, *infrav1.FooCluster, *infrav1beta1.FooCluster]{
	{
		name:  "spec",
		hub:   func(c *infrav1.FooCluster) any { return &c.Spec },
		spoke: func(c *infrav1beta1.FooCluster) any { return &c.Spec },
		down: func(_ context.Context, hub *infrav1.FooCluster, spoke *infrav1beta1.FooCluster) error {
			clusterSpecToSpoke(&hub.Spec, &spoke.Spec)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooCluster, hub *infrav1.FooCluster) error {
			clusterSpecToHub(&spoke.Spec, &hub.Spec)
			return nil
		},
	},
	{
		name:     "status",
		computed: true,
		hub:      func(c *infrav1.FooCluster) any { return &c.Status },
		spoke:    func(c *infrav1beta1.FooCluster) any { return &c.Status },
		down:     clusterStatusToSpoke,
		up:       clusterStatusToHub,
	},
}

// FooCluster converts FooClusters. Pass it to WithConverter of a webhook builder.
var FooCluster = conversion.NewHubSpokeConverter(&infrav1.FooCluster{},
	conversion.NewSpokeConverter(&infrav1beta1.FooCluster{}, fooCluster.toSpoke, fooCluster.toHub))

func clusterSpecToSpoke(hub *infrav1.FooClusterSpec, spoke *infrav1beta1.FooClusterSpec) {
	spoke.ControlPlaneEndpoint = infrav1beta1.APIEndpoint{Host: hub.ControlPlaneEndpoint.Host, Port: hub.ControlPlaneEndpoint.Port}
	spoke.IdentityRef = nil
	if hub.IdentityRef.IsDefined() {
		spoke.IdentityRef = &infrav1beta1.FooClusterIdentityReference{Name: hub.IdentityRef.Name}
	}
}

func clusterSpecToHub(spoke *infrav1beta1.FooClusterSpec, hub *infrav1.FooClusterSpec) {
	hub.ControlPlaneEndpoint.Host, hub.ControlPlaneEndpoint.Port = spoke.ControlPlaneEndpoint.Host, spoke.ControlPlaneEndpoint.Port
	hub.IdentityRef.Name = ""
	if spoke.IdentityRef != nil {
		hub.IdentityRef.Name = spoke.IdentityRef.Name
	}
}

func clusterStatusToSpoke(_ context.Context, hub *infrav1.FooCluster, spoke *infrav1beta1.FooCluster) error {
	spoke.Status = infrav1beta1.FooClusterStatus{
		ContractStatus: contractStatus(hub.Status.Conditions, hub.Status.Initialization.Provisioned, hub.Status.ObservedGeneration),
	}
	for _, domain := range hub.Status.FailureDomains {
		if spoke.Status.FailureDomains == nil {
			spoke.Status.FailureDomains = clusterv1beta1.FailureDomains{}
		}
		spoke.Status.FailureDomains[domain.Name] = clusterv1beta1.FailureDomainSpec{
			ControlPlane: domain.ControlPlane != nil && *domain.ControlPlane, Attributes: domain.Attributes,
		}
	}
	return nil
}

func clusterStatusToHub(_ context.Context, spoke *infrav1beta1.FooCluster, hub *infrav1.FooCluster) error {
	hub.Status.Conditions = modernConditions(spoke.Status.V1Beta2)
	setBool(spoke.Status.Ready, &hub.Status.Initialization.Provisioned)
	hub.Status.ObservedGeneration = spoke.Status.ObservedGeneration
	hub.Status.FailureDomains = nil
	for _, name := range slices.Sorted(maps.Keys(spoke.Status.FailureDomains)) {
		domain := spoke.Status.FailureDomains[name]
		hub.Status.FailureDomains = append(hub.Status.FailureDomains, clusterv1.FailureDomain{
			Name: name, ControlPlane: &domain.ControlPlane, Attributes: domain.Attributes,
		})
	}
	return nil
}
