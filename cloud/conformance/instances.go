// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"sync"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func (s *suite) spec(name string) cloud.InstanceSpec {
	spec := cloud.InstanceSpec{Name: name, Hostname: name, InstanceTemplate: s.template}
	spec.Tags = cloud.Tags{tag: "instances", "name": name}
	return spec
}

func (s *suite) order(name string) cloud.Instance {
	s.t.Helper()
	made, err := s.cloud.EnsureInstance(s.t.Context(), s.spec(name))
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(made.ID).NotTo(gomega.BeEmpty())
	s.Expect(made.ProviderID).NotTo(gomega.BeEmpty())
	s.Expect(made.Tags).To(gomega.HaveKeyWithValue("name", name))
	return made
}

func (s *suite) eventuallyRuns(id string) cloud.Instance {
	s.t.Helper()
	var now cloud.Instance
	s.Eventually(func() (cloud.InstanceState, error) {
		var err error
		now, err = s.cloud.GetInstance(s.t.Context(), id)
		return now.State, err
	}, s.Patience).Should(gomega.Equal(cloud.InstanceRunning))
	s.Expect(now.Address).NotTo(gomega.BeEmpty(), "what runs has an address")
	s.Expect(now.Zone).NotTo(gomega.BeEmpty(), "the cloud has chosen a zone")
	return now
}

func (s *suite) ensureInstance() {
	made := s.order("one")
	again := s.order("one")
	s.Expect(again.ID).To(gomega.Equal(made.ID))
	running := s.eventuallyRuns(made.ID)
	s.Expect([]string{running.ProviderID, running.Type, running.KubernetesVersion}).To(
		gomega.Equal([]string{made.ProviderID, s.template.Type, s.template.KubernetesVersion}))
	s.Expect(s.order("other").ProviderID).NotTo(gomega.Equal(made.ProviderID))
}

// identifies checks that an ID can be a label and a part of a provider ID. A kubelet is given the
// provider ID before the instance is in any list.
func (s *suite) identifies() {
	made := s.order("one")
	s.Expect(validation.IsDNS1123Label(made.ID)).To(gomega.BeEmpty(), made.ID)
	s.Expect(made.ProviderID).To(gomega.Equal(cloud.ProviderID(made.Zone, made.ID)))
	s.Expect(cloud.InstanceID(made.ProviderID)).To(gomega.Equal(made.ID))
}

func (s *suite) hostnames() {
	spec := s.spec("one")
	spec.Hostname = "one.example"
	made, err := s.cloud.EnsureInstance(s.t.Context(), spec)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(s.eventuallyRuns(made.ID).Hostname).To(gomega.Equal("one.example"))
}

func (s *suite) immutable() {
	one := s.order("one")
	for name, change := range map[string]func(*cloud.InstanceSpec){
		"hostname":      func(spec *cloud.InstanceSpec) { spec.Hostname = "other" },
		"zone":          func(spec *cloud.InstanceSpec) { spec.Zone = "no-such-zone" },
		"type":          func(spec *cloud.InstanceSpec) { spec.Type = "no-such-type" },
		"version":       func(spec *cloud.InstanceSpec) { spec.KubernetesVersion = "v0.0.1" },
		"tags":          func(spec *cloud.InstanceSpec) { spec.Tags = cloud.Tags{tag: "others"} },
		"interruptible": func(spec *cloud.InstanceSpec) { spec.Interruptible = true },
	} {
		spec := s.spec("one")
		change(&spec)
		_, err := s.cloud.EnsureInstance(s.t.Context(), spec)
		s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), name)
	}
	same := s.spec("one")
	same.Zone, same.UserData = one.Zone, []byte("#cloud-config\n")
	again, err := s.cloud.EnsureInstance(s.t.Context(), same)
	s.Expect(err).NotTo(gomega.HaveOccurred(), "a caller may name the zone that the cloud chose, and renew the bootstrap data")
	s.Expect(again.ID).To(gomega.Equal(one.ID))

	s.createPool(s.pool(1, "r1"))
	spec := s.spec(s.eventuallyMembers(1)[0].Name)
	_, err = s.cloud.EnsureInstance(s.t.Context(), spec)
	s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), "only a pool creates its instances")
}

func (s *suite) filters() {
	s.order("two")
	s.order("one")
	for _, test := range []struct {
		filter cloud.InstanceFilter
		names  []string
	}{
		{cloud.InstanceFilter{}, []string{"one", "two"}},
		{cloud.InstanceFilter{Name: "one"}, []string{"one"}},
		{cloud.InstanceFilter{Tags: cloud.Tags{tag: "instances"}}, []string{"one", "two"}},
		{cloud.InstanceFilter{Tags: cloud.Tags{tag: "instances", "name": "two"}}, []string{"two"}},
		{cloud.InstanceFilter{Tags: cloud.Tags{tag: "others"}}, []string{}},
		{cloud.InstanceFilter{Pool: "one"}, []string{}},
	} {
		s.Expect(s.names(test.filter)).To(gomega.Equal(test.names), "%+v, sorted by name", test.filter)
	}
}

func (s *suite) names(filter cloud.InstanceFilter) []string {
	s.t.Helper()
	list, err := s.cloud.ListInstances(s.t.Context(), filter)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	names := make([]string, 0, len(list))
	for _, one := range list {
		names = append(names, one.Name)
	}
	return names
}

func (s *suite) spreads() {
	all, err := s.cloud.Zones(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	order := func(name, peers string, zones ...cloud.Zone) string {
		spec := s.spec(name)
		spec.Tags["peers"], spec.Spread = peers, cloud.Tags{"peers": peers}
		for _, zone := range zones {
			spec.Zones = append(spec.Zones, zone.Name)
		}
		made, err := s.cloud.EnsureInstance(s.t.Context(), spec)
		s.Expect(err).NotTo(gomega.HaveOccurred())
		return made.Zone
	}
	last, lost := all[len(all)-1], cloud.Zone{Name: "no-such-zone"}
	s.Expect(order("one", "a", last, lost)).To(gomega.Equal(last.Name), "it may be in no other zone")
	if len(all) > 1 {
		s.Expect(order("two", "a", last, all[0])).To(gomega.Equal(all[0].Name))
	}
	s.Expect(order("three", "b", last, all[0])).To(gomega.Equal(all[0].Name), "of equally full zones, the name that sorts first decides")
}

func (s *suite) spreadsAtOnce() {
	all, err := s.cloud.Zones(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	names, made := []string{"one", "two", "three"}, [3]cloud.Instance{}
	orders := sync.WaitGroup{}
	for i, name := range names {
		orders.Go(func() {
			var err error
			if made[i], err = s.cloud.EnsureInstance(s.t.Context(), s.spec(name)); err != nil {
				s.t.Errorf("order %s: %v", name, err)
			}
		})
	}
	orders.Wait()
	zones := map[string]bool{}
	for _, one := range made {
		zones[one.Zone] = true
	}
	s.Expect(zones).To(gomega.HaveLen(min(len(names), len(all))), "%v", zones)
}

func (s *suite) deleteInstance() {
	made := s.order("one")
	s.eventuallyGone(func() error { return s.cloud.DeleteInstance(s.t.Context(), made.ID) })
	_, err := s.cloud.GetInstance(s.t.Context(), made.ID)
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	s.Expect(s.names(cloud.InstanceFilter{})).To(gomega.BeEmpty())
	s.Expect(s.order("one").ID).NotTo(gomega.Equal(made.ID), "an ID is never used again")
}

func (s *suite) invalid() {
	for name, spoil := range map[string]func(*cloud.InstanceSpec){
		"type":    func(spec *cloud.InstanceSpec) { spec.Type = "no-such-type" },
		"version": func(spec *cloud.InstanceSpec) { spec.KubernetesVersion = "v0.0.1" },
		"image":   func(spec *cloud.InstanceSpec) { spec.Image = "no-such-image" },
		"disk":    func(spec *cloud.InstanceSpec) { spec.DiskBytes = -1 },
		"zone":    func(spec *cloud.InstanceSpec) { spec.Zone = "no-such-zone" },
		"zones":   func(spec *cloud.InstanceSpec) { spec.Zones = []string{"no-such-zone"} },
	} {
		spec := s.spec("wrong")
		spoil(&spec)
		_, err := s.cloud.EnsureInstance(s.t.Context(), spec)
		s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), name)
	}
	s.Expect(s.names(cloud.InstanceFilter{})).To(gomega.BeEmpty(), "nothing is made of a wrong order")
}

func (s *suite) limitedSizes() {
	ctx := s.t.Context()
	tooLarge := cloud.Tags{tag: strings.Repeat("v", cloud.MaxTagValue+1)}
	instance := s.spec("wrong")
	instance.Tags = tooLarge
	_, err := s.cloud.EnsureInstance(ctx, instance)
	s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"))

	for name, spoil := range map[string]func(*cloud.PoolSpec){
		"tags":     func(spec *cloud.PoolSpec) { spec.Tags = tooLarge },
		"template": func(spec *cloud.PoolSpec) { spec.Template.Tags = tooLarge },
		"revision": func(spec *cloud.PoolSpec) { spec.Revision = strings.Repeat("r", cloud.MaxRevision+1) },
	} {
		spec := s.pool(0, "r1")
		spoil(&spec)
		_, err := s.cloud.EnsurePool(ctx, spec, "")
		s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), name)
	}
	for name, spoil := range map[string]func(*cloud.LoadBalancerSpec){
		"tags":     func(spec *cloud.LoadBalancerSpec) { spec.Tags = tooLarge },
		"selector": func(spec *cloud.LoadBalancerSpec) { spec.Selector = tooLarge },
	} {
		spec := balancer("one")
		spoil(&spec)
		_, err := s.cloud.EnsureLoadBalancer(ctx, spec)
		s.Expect(err).To(gomega.MatchError(cloud.IsInvalid, "an InvalidError"), name)
	}
}
