// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strconv"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api/util/annotations"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
)

// outcome holds the cloud's answers.
type outcome struct {
	zones             []cloud.Zone
	zonesFault        cloudfault.Fault
	loadBalancer      *cloud.LoadBalancer
	loadBalancerFault cloudfault.Fault
	// gone is true if nothing is left in the cloud.
	gone bool
}

// resultOf returns Reconcile's result. A load balancer error takes precedence over a zones error.
func resultOf(s *state, o outcome) (ctrl.Result, error) {
	if !o.loadBalancerFault.IsZero() {
		return o.loadBalancerFault.Result()
	}
	if !o.zonesFault.IsZero() {
		return o.zonesFault.Result()
	}
	return ctrl.Result{RequeueAfter: kubeconfigWait(s)}, nil
}

// apply carries out the decision. In the FooCluster it changes only the endpoint, its annotation
// and the finalizer.
func apply(ctx context.Context, c Cloud, s *state, d decision) outcome {
	switch d.action {
	case waitForUsers:
		return outcome{}
	case deleteLoadBalancer:
		return remove(ctx, c, s.fooCluster, d.loadBalancer.Name)
	case useProvidedEndpoint:
		return withZones(ctx, c, s.fooCluster.Spec.Zones, use(s.fooCluster, d.endpoint))
	case ensureLoadBalancer:
		return withZones(ctx, c, s.fooCluster.Spec.Zones, ensure(ctx, c, s.fooCluster, d.loadBalancer))
	}
	return outcome{}
}

func withZones(ctx context.Context, c Cloud, wanted []infrav1.FooClusterZone, o outcome) outcome {
	zones, err := c.Zones(ctx)
	if err == nil {
		zones, err = chooseZones(wanted, zones)
	}
	o.zones, o.zonesFault = zones, cloudfault.Of(err)
	return o
}

// use writes an endpoint that the user has set, perhaps on the Cluster. Admission then refuses
// another port for the load balancer.
func use(fooCluster *infrav1.FooCluster, endpoint infrav1.APIEndpoint) outcome {
	if port := fooCluster.Spec.LoadBalancer.Port; port != 0 && port != endpoint.Port {
		return outcome{loadBalancerFault: cloudfault.Of(&cloud.InvalidError{
			Field: "spec.loadBalancer.port", Value: strconv.Itoa(int(port)), Problem: "must be the port of the control plane endpoint that the Cluster sets",
			Allowed: []string{strconv.Itoa(int(endpoint.Port))},
		})}
	}
	fooCluster.Spec.ControlPlaneEndpoint = endpoint
	return outcome{}
}

// ensure writes the endpoint as soon as the address is known, even if the load balancer is not
// ready yet: the control plane needs it to create its certificates.
func ensure(ctx context.Context, c Cloud, fooCluster *infrav1.FooCluster, spec cloud.LoadBalancerSpec) outcome {
	loadBalancer, err := c.EnsureLoadBalancer(ctx, spec)
	if err != nil {
		return outcome{loadBalancerFault: cloudfault.Of(err)}
	}
	if loadBalancer.Address != "" && fooCluster.Spec.ControlPlaneEndpoint.IsZero() {
		fooCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: loadBalancer.Address, Port: loadBalancer.Port}
		annotations.AddAnnotations(fooCluster, map[string]string{loadBalancerAnnotation: loadBalancer.Name})
	}
	return outcome{loadBalancer: &loadBalancer}
}

// remove deletes the load balancer even if the user set the endpoint: the call is cheap and ensures
// that none is left behind.
func remove(ctx context.Context, c Cloud, fooCluster *infrav1.FooCluster, name string) outcome {
	err := c.DeleteLoadBalancer(ctx, name)
	if !cloud.IsNotFound(err) {
		return outcome{loadBalancerFault: cloudfault.Of(err)}
	}
	controllerutil.RemoveFinalizer(fooCluster, infrav1.FooClusterFinalizer)
	return outcome{gone: true}
}
