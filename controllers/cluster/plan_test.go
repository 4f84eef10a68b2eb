// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func newState(changes ...func(s *state)) *state {
	s := &state{
		fooCluster: &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "infra"}},
		cluster:    &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "one"}},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func endpoint(s *state) {
	s.fooCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "192.0.2.1", Port: 443}
}

func ownEndpoint(s *state) {
	endpoint(s)
	s.fooCluster.Annotations = map[string]string{loadBalancerAnnotation: "ns.infra"}
}

func clusterEndpoint(s *state) {
	s.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "api.example.com", Port: 8443}
}

func balancerPort(s *state) { s.fooCluster.Spec.LoadBalancer.Port = 8443 }

func clusterPort(s *state) { s.cluster.Spec.ClusterNetwork.APIServerPort = 7443 }

func deleting(s *state) {
	now := metav1.Now()
	s.fooCluster.DeletionTimestamp = &now
	s.cluster = nil
}

func withUsers(s *state) { s.users = []string{"FooMachine m1"} }

// Three sources may provide the endpoint; the first one wins.
func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		state *state
		want  action
		host  string
		port  int32
	}{
		"order":                         {newState(), ensureLoadBalancer, "", 6443},
		"order with the Cluster's port": {newState(clusterPort), ensureLoadBalancer, "", 7443},
		"order with its own port":       {newState(clusterPort, balancerPort), ensureLoadBalancer, "", 8443},
		"keep the own":                  {newState(ownEndpoint), ensureLoadBalancer, "", 443},
		"keep the own, which the Cluster has from there": {newState(ownEndpoint, clusterEndpoint), ensureLoadBalancer, "", 443},
		"take the user's":                       {newState(endpoint), useProvidedEndpoint, "192.0.2.1", 0},
		"take the Cluster's":                    {newState(clusterEndpoint), useProvidedEndpoint, "api.example.com", 0},
		"delete":                                {newState(deleting), deleteLoadBalancer, "", 0},
		"wait for the machines":                 {newState(deleting, withUsers), waitForUsers, "", 0},
		"delete, whoever provided the endpoint": {newState(endpoint, deleting), deleteLoadBalancer, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := decide(test.state)
			g.Expect(p.action).To(Equal(test.want))
			g.Expect(p.endpoint.Host).To(Equal(test.host))
			g.Expect(p.loadBalancer.Port).To(Equal(test.port))
			if test.want == ensureLoadBalancer {
				want := cmp.Or(test.state.cluster.Spec.ClusterNetwork.APIServerPort, 6443)
				g.Expect(p.loadBalancer.TargetPort).To(Equal(want), "API servers do not know the load balancer's port")
			}
			if test.want == ensureLoadBalancer || test.want == deleteLoadBalancer {
				g.Expect(p.loadBalancer.Name).To(Equal("ns.infra"))
			}
		})
	}
}

func TestChooseZones(t *testing.T) {
	offered := []cloud.Zone{{Name: "zone-a", ControlPlane: true}, {Name: "zone-b", ControlPlane: true}, {Name: "zone-c"}}
	for name, test := range map[string]struct {
		wanted []infrav1.FooClusterZone
		want   []cloud.Zone
		err    string
	}{
		"all":               {nil, offered, ""},
		"as the cloud says": {[]infrav1.FooClusterZone{{Name: "zone-c"}, {Name: "zone-a"}}, []cloud.Zone{{Name: "zone-c"}, {Name: "zone-a", ControlPlane: true}}, ""},
		"as the user says": {
			[]infrav1.FooClusterZone{{Name: "zone-c", ControlPlane: ptr.To(true)}, {Name: "zone-a", ControlPlane: ptr.To(false)}},
			[]cloud.Zone{{Name: "zone-c", ControlPlane: true}, {Name: "zone-a"}}, "",
		},
		"unknown": {
			[]infrav1.FooClusterZone{{Name: "moon"}, {Name: "zone-c"}}, []cloud.Zone{{Name: "zone-c"}},
			`spec.zones "moon": the cloud has no such zone, allowed: zone-a, zone-b, zone-c`,
		},
		"unknown only": {
			[]infrav1.FooClusterZone{{Name: "moon"}}, nil,
			`spec.zones "moon": the cloud has no such zone, allowed: zone-a, zone-b, zone-c`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			zones, err := chooseZones(test.wanted, offered)
			g.Expect(zones).To(Equal(test.want))
			if test.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(test.err))
			}
		})
	}
}

// Writing such an endpoint would be refused with every retry, and no condition would say so.
func TestThePortOfAProvidedEndpoint(t *testing.T) {
	g := NewWithT(t)
	s := newState(clusterEndpoint, balancerPort, func(s *state) { s.fooCluster.Spec.LoadBalancer.Port = 443 })
	o := use(s.fooCluster, decide(s).endpoint)
	g.Expect(o.loadBalancerFault.Message).To(Equal(`spec.loadBalancer.port "443": must be the port of the control plane endpoint that the Cluster sets, allowed: 8443`))
	g.Expect(s.fooCluster.Spec.ControlPlaneEndpoint).To(BeZero())
}
