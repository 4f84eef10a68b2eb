//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func balancerOrder() cloud.LoadBalancerSpec {
	return cloud.LoadBalancerSpec{Name: "lb", Port: 6443, TargetPort: 7443, Selector: template().Tags}
}

// report sets the status of a Pod as a kubelet would.
func report(t *testing.T, c *Cloud, name, address string, ready corev1.ConditionStatus) {
	t.Helper()
	g := NewWithT(t)
	pod, err := c.pods().Get(t.Context(), name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: containerName, Started: ptr.To(ready == corev1.ConditionTrue), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
	_, err = c.pods().UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestConnectionsAreHeldUntilABackendIsReady(t *testing.T) {
	g := NewWithT(t)
	c := managed(t, tenantWithoutKubelets(t, offer))
	events, err := c.Watch(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	made, err := c.EnsureLoadBalancer(t.Context(), balancerOrder())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Ready).To(BeFalse())
	g.Expect(made.Address).NotTo(BeEmpty(), "certificates contain it")
	g.Expect(made.Message).To(ContainSubstring("holds connections until there is a backend, is starting"))

	name := serviceObject("lb")
	holder := func(g Gomega) *corev1.Pod {
		found, err := c.pods().Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return found
	}
	service, err := c.services().Get(t.Context(), name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	selected := labels.SelectorFromSet(service.Spec.Selector)
	g.Expect(selected.Matches(labels.Set(holder(g).Labels))).To(BeTrue(), "it is a backend")
	container := holder(g).Spec.Containers[0]
	g.Expect(container.Image).To(Equal("registry.example/node:v1.36.3"), "the newest, without a name")
	g.Expect(container.ImagePullPolicy).To(Equal(corev1.PullNever))
	g.Expect(container.Env).To(ConsistOf(corev1.EnvVar{Name: contract.PortVariable, Value: "7443"}))

	report(t, c, name, "10.9.9.1", corev1.ConditionTrue)
	g.Eventually(events, soon).Should(Receive(And(HaveField("Kind", cloud.EventLoadBalancer), HaveField("Name", "lb"))))
	g.Eventually(func() (cloud.LoadBalancer, error) { return c.GetLoadBalancer(t.Context(), "lb") }, soon).
		Should(And(HaveField("Ready", true), HaveField("Backends", BeEmpty())), "the holder is no instance")
	g.Expect(c.ListInstances(t.Context(), cloud.InstanceFilter{})).To(BeEmpty())

	one, err := c.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, address := range []string{"10.9.9.2", "10.9.9.3"} { // the first might be lost before it is ready
		report(t, c, podOf(one.ID), address, corev1.ConditionFalse)
		g.Eventually(func(g Gomega) { g.Expect(holder(g).Annotations).To(HaveKeyWithValue(backendAnnotation, address)) }, soon).Should(Succeed())
	}
	g.Expect(selected.Matches(labels.Set(holder(g).Labels))).To(BeTrue())

	report(t, c, podOf(one.ID), "10.9.9.3", corev1.ConditionTrue)
	g.Eventually(func() bool {
		_, err := c.pods().Get(t.Context(), name, metav1.GetOptions{})
		return isGone(err)
	}, soon).Should(BeTrue(), "it never stays beside a ready backend")
	g.Expect(c.EnsureLoadBalancer(t.Context(), balancerOrder())).To(And(HaveField("Ready", true), HaveField("Backends", HaveLen(1))))

	// A load balancer that has lost all backends refuses connections.
	g.Expect(c.DeleteInstance(t.Context(), one.ID)).To(Succeed())
	g.Expect(c.EnsureLoadBalancer(t.Context(), balancerOrder())).To(HaveField("Ready", true))
	_, err = c.pods().Get(t.Context(), name, metav1.GetOptions{})
	g.Expect(isGone(err)).To(BeTrue())
}

// Another manager, or this one after a restart, ends a holder that was left.
func TestHolderOfAManagerThatStopped(t *testing.T) {
	g := NewWithT(t)
	namespace := tenantWithoutKubelets(t, offer)
	first, err := NewForConfig(outer.Config, namespace)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = first.EnsureLoadBalancer(t.Context(), balancerOrder())
	g.Expect(err).NotTo(HaveOccurred())
	one, err := first.EnsureInstance(t.Context(), orderOf("one"))
	g.Expect(err).NotTo(HaveOccurred())
	report(t, first, podOf(one.ID), "10.9.9.2", corev1.ConditionTrue)
	managed(t, namespace)
	g.Eventually(func() bool {
		_, err := first.pods().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
		return isGone(err)
	}, soon).Should(BeTrue())
}

// Without a holder, a load balancer works from the start, as it does when a holder cannot run.
func TestLoadBalancerWithoutHolder(t *testing.T) {
	for name, test := range map[string]struct {
		before func(*Cloud) error
		after  func(*Cloud) error
	}{
		"the quota has no room for it": {before: func(c *Cloud) error {
			hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
			quotas := outer.client.CoreV1().ResourceQuotas(c.namespace)
			made, err := quotas.Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			made.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: hard} // a controller does that in a complete cluster
			_, err = quotas.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
			awaitQuota(t, c.namespace)
			return err
		}},
		"there is an instance already": {before: func(c *Cloud) error {
			_, err := c.EnsureInstance(t.Context(), orderOf("one"))
			return err
		}},
		"it was evicted": {after: func(c *Cloud) error {
			pod, err := c.pods().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
			if err != nil {
				return err
			}
			pod.Status.Phase = corev1.PodFailed
			_, err = c.pods().UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
			return err
		}},
		"it was deleted": {after: func(c *Cloud) error {
			return c.pods().Delete(t.Context(), serviceObject("lb"), metav1.DeleteOptions{})
		}},
		"no node has its image": {after: func(c *Cloud) error {
			pod, err := c.pods().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
			if err != nil {
				return err
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: containerName, State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull", Message: "is not present with pull policy of Never"},
			}}}
			_, err = c.pods().UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, err := NewForConfig(outer.Config, tenantWithoutKubelets(t, offer))
			g.Expect(err).NotTo(HaveOccurred())
			if test.before != nil {
				g.Expect(test.before(c)).To(Succeed())
			}
			made, err := c.EnsureLoadBalancer(t.Context(), balancerOrder())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(made.Ready).To(Equal(test.after == nil))
			if test.after != nil {
				g.Expect(test.after(c)).To(Succeed())
				g.Expect(c.EnsureLoadBalancer(t.Context(), balancerOrder())).To(HaveField("Ready", true))
				g.Expect(c.tendLoadBalancers(t.Context())).To(Succeed())
			}
			_, err = c.pods().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
			g.Expect(isGone(err)).To(BeTrue(), "it would be a backend that refuses connections")
			g.Eventually(func() error { return c.DeleteLoadBalancer(t.Context(), "lb") }, soon).Should(MatchError(cloud.IsNotFound, "a NotFoundError"))
			_, err = c.pods().Get(t.Context(), serviceObject("lb"), metav1.GetOptions{})
			g.Expect(isGone(err)).To(BeTrue(), "nothing is left")
		})
	}
}
