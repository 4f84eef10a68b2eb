// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
)

// outcome is what the cloud answered.
type outcome struct {
	zones             []cloud.Zone
	zonesFault        cloudfault.Fault
	loadBalancer      *cloud.LoadBalancer
	loadBalancerFault cloudfault.Fault
	// gone says that nothing is left in the cloud.
	gone bool
}

// resultOf is what Reconcile returns: the load balancer's error is the more important one.
func resultOf(s *state, o outcome) (ctrl.Result, error) {
	if !o.loadBalancerFault.IsZero() {
		return o.loadBalancerFault.Result()
	}
	if !o.zonesFault.IsZero() {
		return o.zonesFault.Result()
	}
	return ctrl.Result{RequeueAfter: kubeconfigWait(s)}, nil
}

// apply does what was decided. In the FooCluster it changes only the endpoint, its mark and the finalizer.
func apply(ctx context.Context, c Cloud, s *state, d decision) outcome {
	switch d.action {
	case waitForUsers:
		return outcome{}
	case deleteLoadBalancer:
		return remove(ctx, c, s.fooCluster, d.loadBalancer.Name)
	case useProvidedEndpoint:
		s.fooCluster.Spec.ControlPlaneEndpoint = d.endpoint
		return withZones(ctx, c, outcome{})
	case ensureLoadBalancer:
		return withZones(ctx, c, ensure(ctx, c, s.fooCluster, d.loadBalancer))
	}
	return outcome{}
}

func withZones(ctx context.Context, c Cloud, o outcome) outcome {
	zones, err := c.Zones(ctx)
	o.zones, o.zonesFault = zones, cloudfault.Of(err)
	return o
}

// ensure writes the endpoint as soon as the address is known, though the load balancer may not be ready yet: the control
// plane makes its certificates from it.
func ensure(ctx context.Context, c Cloud, fooCluster *infrav1.FooCluster, spec cloud.LoadBalancerSpec) outcome {
	loadBalancer, err := c.EnsureLoadBalancer(ctx, spec)
	if err != nil {
		return outcome{loadBalancerFault: cloudfault.Of(err)}
	}
	if loadBalancer.Address != "" && fooCluster.Spec.ControlPlaneEndpoint.IsZero() {
		fooCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: loadBalancer.Address, Port: loadBalancer.Port}
		if fooCluster.Annotations == nil {
			fooCluster.Annotations = map[string]string{}
		}
		fooCluster.Annotations[loadBalancerAnnotation] = loadBalancer.Name
	}
	return outcome{loadBalancer: &loadBalancer}
}

// remove deletes the load balancer also where the user set the endpoint: it costs nothing, and no load balancer can be left.
func remove(ctx context.Context, c Cloud, fooCluster *infrav1.FooCluster, name string) outcome {
	err := c.DeleteLoadBalancer(ctx, name)
	if !cloud.IsNotFound(err) {
		return outcome{loadBalancerFault: cloudfault.Of(err)}
	}
	controllerutil.RemoveFinalizer(fooCluster, infrav1.FooClusterFinalizer)
	return outcome{gone: true}
}
