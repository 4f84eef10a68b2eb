// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

var small = cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3", UserData: []byte("data"), Tags: cloud.Tags{"role": "cp"}}

func TestInstanceLife(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{Mode: Manual})
	spec := cloud.InstanceSpec{Name: "a", Hostname: "a", InstanceTemplate: small}
	i, err := c.EnsureInstance(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i.State).To(Equal(cloud.InstancePending))
	again, err := c.EnsureInstance(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(i), "ensuring again makes no other")

	g.Expect(c.RunInstance("a")).To(BeTrue())
	g.Expect(c.DeleteInstance(t.Context(), i.ID)).To(Succeed())
	g.Expect(c.DeleteInstance(t.Context(), i.ID)).To(Succeed(), "the deletion goes on")
	c.FinishDeletions()
	g.Expect(c.DeleteInstance(t.Context(), i.ID)).To(MatchError(cloud.IsNotFound, "not found"))
}

func TestPoolLife(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{})
	spec := cloud.PoolSpec{Name: "ns.p", HostnamePrefix: "p", Size: 3, Revision: "1", Template: small}
	p, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Instances).To(Equal(int32(3)))
	g.Expect(p.Template.UserData).To(BeEmpty(), "user data is never returned")

	_, err = c.ScalePool(t.Context(), "ns.p", 2, p.Version)
	g.Expect(cloud.IsInvalid(err)).To(BeTrue(), "a pool shrinks by deletions only")

	instances, err := c.ListInstances(t.Context(), cloud.InstanceFilter{Pool: "ns.p"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]string{instances[0].Zone, instances[1].Zone, instances[2].Zone}).To(ConsistOf("zone-a", "zone-b", "zone-c"))
	g.Expect(c.DeleteInstance(t.Context(), instances[0].ID)).To(Succeed())
	p, err = c.GetPool(t.Context(), "ns.p")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Size).To(Equal(int32(2)), "the size shrinks with the deletion")

	c.SetLimits(cloud.Resources{Instances: 2})
	p, err = c.ScalePool(t.Context(), "ns.p", 3, p.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Problem.Reason).To(Equal(cloud.ReasonQuotaExceeded))
	c.SetLimits(cloud.Resources{})
	c.GrowPools()
	p, err = c.GetPool(t.Context(), "ns.p")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Problem).To(BeNil())

	g.Expect(c.DeletePool(t.Context(), "ns.p")).To(Succeed())
	g.Expect(c.DeletePool(t.Context(), "ns.p")).To(MatchError(cloud.IsNotFound, "not found"))
	g.Expect(c.InstanceNames()).To(BeEmpty())
}

// Whoever repeats a deletion after each event would never stop if the repetition sent one.
func TestRepeatedDeletionsOfAPoolSendNoEvents(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{Mode: Manual})
	_, err := c.EnsurePool(t.Context(), cloud.PoolSpec{Name: "ns.p", HostnamePrefix: "p", Size: 1, Revision: "1", Template: small}, "")
	g.Expect(err).NotTo(HaveOccurred())
	events, err := c.Watch(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(events).Should(Receive(HaveField("Kind", cloud.EventSynced)))
	g.Expect(c.DeletePool(t.Context(), "ns.p")).To(Succeed())
	g.Eventually(events).Should(Receive(HaveField("Kind", cloud.EventInstance)))
	g.Eventually(events).Should(Receive(HaveField("Kind", cloud.EventPool)))
	g.Expect(c.DeletePool(t.Context(), "ns.p")).To(Succeed(), "the deletion goes on")
	g.Consistently(events).ShouldNot(Receive())
	c.FinishDeletions()
	g.Eventually(events).Should(Receive(HaveField("Kind", cloud.EventInstance)))
	g.Eventually(events).Should(Receive(HaveField("Kind", cloud.EventPool)))
	g.Expect(c.DeletePool(t.Context(), "ns.p")).To(MatchError(cloud.IsNotFound, "not found"))
}

func TestPoolWhoseImageIsLost(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{})
	spec := cloud.PoolSpec{Name: "ns.p", HostnamePrefix: "p", Size: 1, Revision: "1", Template: small}
	p, err := c.EnsurePool(t.Context(), spec, "")
	g.Expect(err).NotTo(HaveOccurred())
	c.SetImages([]cloud.Image{{KubernetesVersion: "v1.37.0"}})
	spec.Template.UserData = []byte("other data")
	p, err = c.EnsurePool(t.Context(), spec, p.Version)
	g.Expect(err).NotTo(HaveOccurred(), "the image is the one from before")
	p, err = c.ScalePool(t.Context(), "ns.p", 2, p.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Problem).To(HaveValue(HaveField("Reason", cloud.ReasonInvalid)))
	spec.Template.KubernetesVersion = "v1.35.4"
	_, err = c.EnsurePool(t.Context(), spec, p.Version)
	g.Expect(cloud.IsInvalid(err)).To(BeTrue(), "it never had this version")
}

func TestLoadBalancerFindsItsBackends(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{})
	lb, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: cloud.Tags{"role": "cp"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lb.Address).NotTo(BeEmpty())
	g.Expect(lb.Backends).To(BeEmpty())
	i, err := c.EnsureInstance(t.Context(), cloud.InstanceSpec{Name: "a", Hostname: "a", InstanceTemplate: small})
	g.Expect(err).NotTo(HaveOccurred())
	lb, err = c.GetLoadBalancer(t.Context(), "lb")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lb.Backends).To(Equal([]cloud.Backend{{InstanceID: i.ID, Address: i.Address}}))
}

func TestRefusesWhatIsWrong(t *testing.T) {
	wrongType, wrongVersion, wrongImage := small, small, small
	wrongType.Type, wrongVersion.KubernetesVersion, wrongImage.Image = "huge", "v9.9.9", "tpu"
	for name, spec := range map[string]cloud.InstanceSpec{
		`type "huge": unknown instance type, allowed: large, small`:                                                                  {InstanceTemplate: wrongType},
		`kubernetesVersion "v9.9.9": no image of this Kubernetes version, allowed: v1.35.4, v1.36.3`:                                 {InstanceTemplate: wrongVersion},
		`zone "moon": unknown zone, allowed: zone-a, zone-b, zone-c`:                                                                 {InstanceTemplate: small, Zone: "moon"},
		`image "tpu": no image of this name for Kubernetes v1.36.3; without a name, the cloud takes its default image, allowed: gpu`: {InstanceTemplate: wrongImage},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			spec.Name, spec.Hostname = "a", "a"
			_, err := New(Options{}).EnsureInstance(t.Context(), spec)
			g.Expect(err).To(MatchError(name))
		})
	}
}

func TestFaults(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{})
	down := &cloud.UnavailableError{Message: "down"}
	c.Fail(CallZones, down)
	_, err := c.Zones(t.Context())
	g.Expect(err).To(MatchError(down))
	c.Heal(CallZones)
	_, err = c.Zones(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Calls(CallZones)).To(Equal(2))
}

func TestWatch(t *testing.T) {
	g := NewWithT(t)
	c := New(Options{})
	events, err := c.Watch(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.EnsureInstance(t.Context(), cloud.InstanceSpec{Name: "a", Hostname: "a", InstanceTemplate: small})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(events).Should(Receive(Equal(cloud.Event{Kind: cloud.EventSynced})), "every watch starts with it")
	g.Eventually(events).Should(Receive(HaveField("Name", "a")), "then come changes")
	c.DropWatches()
	g.Eventually(events).Should(BeClosed(), "a lost connection closes the channel")
}
