// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"

	"github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const port = 6443

// balancer returns the spec of a load balancer for the named instance.
func balancer(instance string) cloud.LoadBalancerSpec {
	return cloud.LoadBalancerSpec{
		Name: "balancer", Port: 443, TargetPort: port, Tags: cloud.Tags{tag: "balancers"}, Selector: cloud.Tags{tag: "instances", "name": instance},
	}
}

func (s *suite) loadBalancer() {
	ctx := s.t.Context()
	made, err := s.cloud.EnsureLoadBalancer(ctx, balancer("one"))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(made.TargetPort).To(gomega.BeEquivalentTo(port))
	address := cmp.Or(made.Address, s.eventuallyAddress())
	again, err := s.cloud.EnsureLoadBalancer(ctx, balancer("one"))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(again.Address).To(gomega.Equal(address), "certificates contain it")

	moved := balancer("one")
	moved.Port++
	_, err = s.cloud.EnsureLoadBalancer(ctx, moved)
	s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), "the port is immutable")

	list, err := s.cloud.ListLoadBalancers(ctx, cloud.Tags{tag: "balancers"})
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(list).To(gomega.ConsistOf(gomega.HaveField("Name", "balancer")))
	s.eventuallyGone(func() error { return s.cloud.DeleteLoadBalancer(ctx, "balancer") })
	list, err = s.cloud.ListLoadBalancers(ctx, nil)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(list).To(gomega.BeEmpty())
}

// eventuallyAddress waits for the address of the load balancer. Clusters need it before there is a
// backend.
func (s *suite) eventuallyAddress() string {
	s.t.Helper()
	address := ""
	s.Eventually(func() (string, error) {
		now, err := s.cloud.GetLoadBalancer(s.t.Context(), "balancer")
		address = now.Address
		return address, err
	}, s.Patience).ShouldNot(gomega.BeEmpty())
	return address
}

func (s *suite) backends() {
	ctx := s.t.Context()
	_, err := s.cloud.EnsureLoadBalancer(ctx, balancer("one"))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	one, two := s.eventuallyRuns(s.order("one").ID), s.eventuallyRuns(s.order("two").ID)
	s.eventuallyBackends(one.ID)
	changed := balancer("two")
	changed.Tags = cloud.Tags{tag: "changed balancers"}
	_, err = s.cloud.EnsureLoadBalancer(ctx, changed)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.eventuallyBackends(two.ID)
	list, err := s.cloud.ListLoadBalancers(ctx, changed.Tags)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(list).To(gomega.HaveLen(1), "the tags change with the selector")

	s.Expect(s.cloud.DrainInstance(ctx, two.ID)).To(gomega.Succeed())
	drained, err := s.cloud.GetInstance(ctx, two.ID)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(drained.Draining).To(gomega.BeTrue())
	s.Expect(drained.State).To(gomega.Equal(cloud.InstanceRunning), "the instance itself is not touched")
}

func (s *suite) eventuallyBackends(ids ...string) {
	s.t.Helper()
	s.Eventually(func() ([]string, error) {
		now, err := s.cloud.GetLoadBalancer(s.t.Context(), "balancer")
		found := make([]string, 0, len(now.Backends))
		for _, backend := range now.Backends {
			found = append(found, backend.InstanceID)
		}
		return found, err
	}, s.Patience).Should(gomega.Equal(ids))
}
