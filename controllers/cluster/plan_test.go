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
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

func newScope(changes ...func(s *scope)) *scope {
	s := &scope{
		fooCluster: &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "infra"}},
		cluster:    &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "one"}},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func endpoint(s *scope) {
	s.fooCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "192.0.2.1", Port: 443}
}

func ownEndpoint(s *scope) {
	endpoint(s)
	s.fooCluster.Annotations = map[string]string{loadBalancerAnnotation: "ns.infra"}
}

func clusterEndpoint(s *scope) {
	s.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "api.example.com", Port: 8443}
}

func clusterPort(s *scope) { s.cluster.Spec.ClusterNetwork.APIServerPort = 7443 }

func deleting(s *scope) {
	now := metav1.Now()
	s.fooCluster.DeletionTimestamp = &now
	s.cluster = nil
}

// Three may provide the endpoint; whoever comes first has it.
//
//contract:infra-cluster/control-plane-endpoint
func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		scope *scope
		want  action
		host  string
		port  int32
	}{
		"order":                         {newScope(), ensureLoadBalancer, "", 6443},
		"order with the Cluster's port": {newScope(clusterPort), ensureLoadBalancer, "", 7443},
		"keep the own":                  {newScope(ownEndpoint), ensureLoadBalancer, "", 443},
		"keep the own, which the Cluster has from there": {newScope(ownEndpoint, clusterEndpoint), ensureLoadBalancer, "", 443},
		"take the user's":                       {newScope(endpoint), useProvidedEndpoint, "192.0.2.1", 0},
		"take the Cluster's":                    {newScope(clusterEndpoint), useProvidedEndpoint, "api.example.com", 0},
		"delete":                                {newScope(deleting), deleteLoadBalancer, "", 0},
		"delete, whoever provided the endpoint": {newScope(endpoint, deleting), deleteLoadBalancer, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := decide(test.scope)
			g.Expect(p.action).To(Equal(test.want))
			g.Expect(p.endpoint.Host).To(Equal(test.host))
			g.Expect(p.loadBalancer.Port).To(Equal(test.port))
			if test.want != useProvidedEndpoint {
				g.Expect(p.loadBalancer.Name).To(Equal("ns.infra"))
			}
		})
	}
}
