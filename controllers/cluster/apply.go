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
	"context"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
)

// apply does what was decided and puts the cloud's answers into the scope.
func (r *reconciler) apply(ctx context.Context, s *scope, p plan) {
	switch p.action {
	case deleteLoadBalancer:
		r.deleteLoadBalancer(ctx, s, p.loadBalancer.Name)
	case useProvidedEndpoint:
		s.fooCluster.Spec.ControlPlaneEndpoint = p.endpoint
		r.listZones(ctx, s)
	case ensureLoadBalancer:
		r.ensureLoadBalancer(ctx, s, p.loadBalancer)
		r.listZones(ctx, s)
	}
}

func (r *reconciler) listZones(ctx context.Context, s *scope) {
	zones, err := s.cloud.Zones(ctx)
	s.zones, s.zonesFault = zones, cloudfault.Of(err)
}

// ensureLoadBalancer writes the endpoint as soon as the address is known, though the load balancer may not be ready yet:
// the control plane makes its certificates from it.
func (r *reconciler) ensureLoadBalancer(ctx context.Context, s *scope, spec cloud.LoadBalancerSpec) {
	loadBalancer, err := s.cloud.EnsureLoadBalancer(ctx, spec)
	s.loadBalancerFault = cloudfault.Of(err)
	if err != nil {
		return
	}
	s.loadBalancer = &loadBalancer
	if loadBalancer.Address == "" || !s.fooCluster.Spec.ControlPlaneEndpoint.IsZero() {
		return
	}
	s.fooCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: loadBalancer.Address, Port: loadBalancer.Port}
	if s.fooCluster.Annotations == nil {
		s.fooCluster.Annotations = map[string]string{}
	}
	s.fooCluster.Annotations[loadBalancerAnnotation] = loadBalancer.Name
}

// deleteLoadBalancer deletes also where the user set the endpoint: it costs nothing, and no load balancer can be left.
func (r *reconciler) deleteLoadBalancer(ctx context.Context, s *scope, name string) {
	err := s.cloud.DeleteLoadBalancer(ctx, name)
	if !cloud.IsNotFound(err) {
		s.loadBalancerFault = cloudfault.Of(err)
		return
	}
	s.gone = true
	controllerutil.RemoveFinalizer(s.fooCluster, infrav1.FooClusterFinalizer)
}
