//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

func strategy(surge, unavailable int32) infrav1.FooMachinePoolStrategy {
	return infrav1.FooMachinePoolStrategy{MaxSurge: ptr.To(intstr.FromInt32(surge)), MaxUnavailable: ptr.To(intstr.FromInt32(unavailable))}
}

// maxTags returns as many tags as an object may have.
func maxTags(prefix string) map[string]string {
	tags := map[string]string{}
	for i := range 50 {
		tags[fmt.Sprintf("%s-%d", prefix, i)] = "red"
	}
	return tags
}

func version(to string) func(m *clusterv1.MachinePool) {
	return func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = to }
}

var _ = Describe("The life of a pool", func() {
	AfterEach(func() {
		for _, call := range []fake.Call{fake.CallEnsurePool, fake.CallScalePool, fake.CallGetPool, fake.CallListInstances} {
			suite.Cloud.Heal(call)
		}
	})

	DescribeTable("rolls out a version within its budget",
		func(surge, unavailable int32) {
			s := newStory(3, strategy(surge, unavailable))
			s.settles(3)
			before := s.get(Default).Status.Revision
			s.watch()
			s.change(version("v1.35.4"))
			s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
			s.settles(3)
			Expect(s.fewest).To(BeNumerically(">=", 3-int(unavailable)), "available Machines")
			Expect(s.most).To(BeNumerically("<=", 3+int(surge)), "instances")
			Expect(s.drained).To(HaveLen(3), "each Machine was replaced once")
			pool := s.get(Default)
			Expect(pool.Status.Revision).NotTo(Equal(before))
			for _, i := range pool.Status.Instances {
				Expect(i.Version).To(Equal("v1.35.4"))
				Expect(i.Revision).To(Equal(pool.Status.Revision))
			}
		},
		Entry("1/0", int32(1), int32(0)), Entry("0/1", int32(0), int32(1)), Entry("2/1", int32(2), int32(1)),
	)

	It("keeps its instances if the cloud does not have the version", func() {
		s := newStory(2, strategy(0, 1))
		s.settles(2)
		s.change(version("v9.9.9"))
		s.has(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.CloudInvalidReason)
		s.stays()
		s.change(version("v1.35.4"))
		s.settles(2)
	})

	It("keeps its instances if the cloud does not have the instance type, and reports no capacity", func() {
		s := newStory(2, strategy(0, 1))
		s.settles(2)
		s.changePool(func(p *infrav1.FooMachinePool) { p.Spec.Template.InstanceType = "huge" })
		message := s.has(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.CloudInvalidReason)
		Expect(message).To(And(ContainSubstring(`"huge"`), ContainSubstring("small"), ContainSubstring("large")))
		s.stays()
		Eventually(func(g Gomega) { g.Expect(s.get(g).Status.Capacity).To(BeEmpty()) }).Should(Succeed(), "conditions are written before the rest of the status")
		s.changePool(func(p *infrav1.FooMachinePool) { p.Spec.Template.InstanceType = "large" })
		s.settles(2)
		Expect(s.get(Default).Status.Capacity.Cpu().Value()).To(BeEquivalentTo(8))
	})

	It("replaces its instances for another image, disk or tag, and its FooMachines say what they have", func() {
		s := newStory(2, strategy(0, 1))
		fooCluster := infratest.NewFooCluster(s.cluster)
		fooCluster.Spec.AdditionalTags = maxTags("cluster")
		Expect(suite.Client.Create(s.ctx, fooCluster)).To(Succeed())
		s.settles(2)
		s.changePool(func(p *infrav1.FooMachinePool) {
			p.Spec.Template.Image, p.Spec.Template.RootDisk.SizeGiB = "gpu", 40
			p.Spec.Template.AdditionalTags = maxTags("pool")
		})
		s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		s.settles(2)
		for _, fooMachine := range s.fooMachines(Default) {
			Expect(fooMachine.Spec).To(And(HaveField("Image", "gpu"), HaveField("RootDisk.SizeGiB", int32(40)),
				HaveField("AdditionalTags", Equal(maxTags("pool")))))
		}
	})

	It("moves to the cluster's zones when they change, and keeps its instances", func() {
		s := newStory(2, strategy(0, 1))
		s.settles(2)
		before := s.get(Default).Status.Revision
		for _, domains := range [][]clusterv1.FailureDomain{{{Name: "zone-b"}, {Name: "zone-a"}}, {{Name: "zone-a"}}} {
			s.changeCluster(func(c *clusterv1.Cluster) { c.Status.FailureDomains = domains })
			var zones []string
			for _, domain := range domains {
				zones = append(zones, domain.Name)
			}
			Eventually(func(g Gomega) {
				pool, err := suite.Cloud.GetPool(s.ctx, s.cloudName())
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(pool.Zones).To(ConsistOf(zones))
			}).Should(Succeed(), "the cloud replaces lost instances on its own")
		}
		s.settles(2)
		Expect(s.get(Default).Status.Revision).To(Equal(before))
		Expect(s.drained).To(BeEmpty())
	})

	DescribeTable("keeps its instances if the desired size exceeds a limit",
		func(replicas int32, reason, says string) {
			DeferCleanup(suite.Cloud.SetLimits, cloud.Resources{})
			s := newStory(2, strategy(0, 1))
			s.settles(2)
			quota, err := suite.Cloud.Quota(s.ctx)
			Expect(err).NotTo(HaveOccurred())
			suite.Cloud.SetLimits(cloud.Resources{Instances: quota.Used.Instances})
			before := namesOfInstances(s.instances(Default))
			s.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = &replicas })
			message := s.has(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, reason)
			Expect(message).To(ContainSubstring(says))
			s.stays()
			Expect(namesOfInstances(s.instances(Default))).To(Equal(before))
			s.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](2) })
			s.has(infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue, infrav1.FooMachinePoolReadyReason)
			Expect(namesOfInstances(s.instances(Default))).To(Equal(before))
		},
		Entry("the quota", int32(3), infrav1.CloudQuotaExceededReason, "instances"),
		Entry("the maximum size", int32(10001), infrav1.CloudInvalidReason, "at most 10000"),
	)

	It("rolls out new bootstrap data, but not for a new token", func() {
		s := newStory(2, infrav1.FooMachinePoolStrategy{})
		s.settles(2)
		before := s.get(Default).Status.Revision
		secret := infratest.NewSecret(s.namespace, "workers", userData("fedcba.0123456789abcdef", "a"))
		Expect(suite.Client.Update(s.ctx, secret)).To(Succeed())
		Eventually(func() string {
			data, _ := suite.Cloud.PoolUserData(s.cloudName())
			return string(data)
		}).Should(ContainSubstring("fedcba"), "the Secret is watched")
		s.stays()
		Expect(s.get(Default).Status.Revision).To(Equal(before))

		secret = infratest.NewSecret(s.namespace, "workers", userData("fedcba.0123456789abcdef", "b"))
		Expect(suite.Client.Update(s.ctx, secret)).To(Succeed())
		s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		s.settles(2)
		Expect(s.drained).To(HaveLen(2))
	})

	It("scales while a rollout is paused", func() {
		paused := strategy(1, 0)
		paused.RolloutPaused = ptr.To(true)
		s := newStory(2, paused)
		s.settles(2)
		s.change(version("v1.35.4"))
		s.has(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionFalse, infrav1.FooMachinePoolRolloutPausedReason)
		s.stays()
		s.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](3) })
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(s.get(g).Status.AvailableReplicas).To(HaveValue(BeEquivalentTo(3)))
			g.Expect(s.get(g).Status.UpdatedReplicas).To(HaveValue(BeEquivalentTo(1)))
		}).Should(Succeed(), "the new instance has the new revision")
		s.changePool(func(p *infrav1.FooMachinePool) { p.Spec.Strategy.RolloutPaused = nil })
		s.settles(3)
		Expect(s.drained).To(HaveLen(2))
	})

	DescribeTable("stalls if Nodes do not join, says why, and recovers", func(failure cloud.Bootstrap, says string) {
		hasty := strategy(1, 0)
		// Longer than working instances need to join on a busy machine.
		hasty.NodeJoinTimeoutSeconds, hasty.MaxFailedReplacements = 10, 2
		s := newStory(2, hasty)
		s.settles(2)
		s.watch()
		s.fails = func(i cloud.Instance) bool { return i.KubernetesVersion == "v1.35.4" }
		s.failure = failure
		s.change(version("v1.35.4"))
		message := s.has(infrav1.FooMachinePoolStalledCondition, metav1.ConditionTrue, infrav1.FooMachinePoolNodesDoNotJoinReason)
		Expect(message).To(ContainSubstring(says))
		Eventually(func(g Gomega) int32 { return s.get(g).Status.FailedReplacements.Count }).
			Should(BeNumerically(">=", 2), "conditions are written before the rest of the status")
		tried := len(s.drained)
		Eventually(func(g Gomega) {
			s.step(g)
			Expect(conditions.IsTrue(s.get(Default), infrav1.FooMachinePoolStalledCondition)).To(BeTrue(), "it stays stalled during another attempt")
			g.Expect(len(s.drained)).To(BeNumerically(">", tried))
		}).WithPolling(stepTime).Should(Succeed(), "there is another attempt")
		Expect(s.fewest).To(Equal(2), "working instances stay")
		s.fails = nil
		s.settles(2)
		s.has(infrav1.FooMachinePoolStalledCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotStalledReason)
		Expect(s.get(Default).Status.FailedReplacements).To(BeZero())
		Expect(s.fewest).To(Equal(2))
	},
		Entry("bootstrap failed", cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "kubeadm join: exit code 1"}, "kubeadm join: exit code 1"),
		Entry("timeout", cloud.Bootstrap{State: cloud.BootstrapRunning}, "has not joined within 10s: it has bootstrap state Running"),
	)

	It("creates its pool again if the cloud has lost it, and keeps the instances", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		before := namesOfInstances(s.instances(Default))
		Expect(suite.Cloud.LosePool(s.cloudName())).To(BeTrue())
		Eventually(func() error {
			_, err := suite.Cloud.GetPool(s.ctx, s.cloudName())
			return err
		}).Should(Succeed())
		s.stays()
		Expect(namesOfInstances(s.instances(Default))).To(Equal(before))
		s.has(infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue, infrav1.FooMachinePoolReadyReason)
		s.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](4) })
		s.settles(4)
		Expect(namesOfInstances(s.instances(Default))).To(ContainElements(before))
		Expect(s.drained).To(BeEmpty())
	})

	It("deletes nothing after a move from another management cluster", func() {
		s := newStory(3, strategy(1, 0))
		s.settles(3)
		s.changePool(func(p *infrav1.FooMachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
		s.shows(clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
		for _, machine := range s.machines(Default) {
			machine.Finalizers = nil
			Expect(suite.Client.Update(s.ctx, &machine)).To(Succeed())
			Expect(suite.Client.Delete(s.ctx, &machine)).To(Succeed())
		}
		for _, i := range s.instances(Default) { // make all older than the join timeout
			Expect(suite.Cloud.ChangeInstance(i.Name, func(i *cloud.Instance) { i.CreatedAt = i.CreatedAt.Add(-time.Hour) })).To(BeTrue())
		}
		for _, fooMachine := range s.fooMachines(Default) {
			fooMachine.OwnerReferences = fooMachine.OwnerReferences[:1] // drop the reference to the Machine
			Expect(suite.Client.Update(s.ctx, &fooMachine)).To(Succeed())
			_, err := suite.CreateMachineFor(s.ctx, s.cluster, &fooMachine)
			Expect(err).NotTo(HaveOccurred())
		}
		s.changePool(func(p *infrav1.FooMachinePool) { p.Annotations = nil })
		s.shows(clusterv1.PausedCondition, metav1.ConditionFalse, clusterv1.NotPausedReason)
		Consistently(func(g Gomega) {
			for _, machine := range s.machines(g) {
				g.Expect(machine.DeletionTimestamp.IsZero()).To(BeTrue())
			}
		}, "1s", "50ms").Should(Succeed(), "Cluster API has not set the Nodes yet")
		s.settles(3)
		Expect(s.drained).To(BeEmpty())
	})

	It("restores the references that FooMachines lost, and drains all Nodes when it is deleted", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		s.changePool(func(p *infrav1.FooMachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
		s.shows(clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
		for i, fooMachine := range s.fooMachines(Default) {
			if fooMachine.OwnerReferences = nil; i == 0 { // an earlier version of the API
				fooMachine.OwnerReferences = []metav1.OwnerReference{{
					APIVersion: infrav1.GroupVersion.Group + "/v1alpha1", Kind: poolKind, Name: s.pool.Name, UID: s.pool.UID,
				}}
			}
			Expect(suite.Client.Update(s.ctx, &fooMachine)).To(Succeed())
		}
		s.changePool(func(p *infrav1.FooMachinePool) { p.Annotations = nil })
		Eventually(s.fooMachines).Should(HaveEach(HaveField("OwnerReferences", ConsistOf(
			metav1.OwnerReference{APIVersion: infrav1.GroupVersion.String(), Kind: poolKind, Name: s.pool.Name, UID: s.pool.UID}))))
		s.stays()
		s.change(version("v1.35.4"))
		s.settles(3)
		Expect(s.drained).To(HaveLen(3), "a rollout goes on")

		s.watch()
		Expect(suite.Client.Delete(s.ctx, s.get(Default))).To(Succeed())
		// The garbage collector removes the references in a foreground deletion.
		for _, fooMachine := range s.fooMachines(Default) {
			fooMachine.OwnerReferences = nil
			Expect(suite.Client.Update(s.ctx, &fooMachine)).To(Succeed())
		}
		Eventually(func(g Gomega) {
			s.step(g)
			_, err := suite.Cloud.GetPool(s.ctx, s.cloudName())
			g.Expect(err).To(MatchError(cloud.IsNotFound, "not found"))
		}).WithPolling(stepTime).Should(Succeed(), "it is deleted")
		Expect(s.drained).To(HaveLen(3), "the pool waits for its Nodes")
		suite.BeGone(s.ctx, s.pool)
	})

	It("deletes nothing of another FooMachinePool of the same MachinePool", func() {
		s := newStory(2, infrav1.FooMachinePoolStrategy{})
		s.settles(2)
		other := infratest.NewFooMachinePool(s.machinePool)
		other.Name = "other"
		Expect(suite.Client.Create(s.ctx, other)).To(Succeed())
		s.change(func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.InfrastructureRef.Name = "other" })
		message := s.shows(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotReferencedReason)
		Expect(message).To(ContainSubstring("names FooMachinePool other"))
		Eventually(func(g Gomega) {
			g.Expect(s.fooMachines(g)).To(HaveLen(4))
		}).Should(Succeed(), "the MachinePool has another pool now")
		for _, fooMachine := range s.fooMachines(Default) {
			fooMachine.OwnerReferences = nil
			Expect(suite.Client.Update(s.ctx, &fooMachine)).To(Succeed())
		}
		Eventually(func(g Gomega) {
			owners := map[string]int{}
			for _, fooMachine := range s.fooMachines(g) {
				g.Expect(fooMachine.OwnerReferences).To(HaveLen(1))
				g.Expect(fooMachine.Name).To(HavePrefix(fooMachine.OwnerReferences[0].Name + "-"))
				owners[fooMachine.OwnerReferences[0].Name]++
			}
			g.Expect(owners).To(Equal(map[string]int{"workers": 2, "other": 2}))
		}).Should(Succeed(), "each pool restores its own references")
		s.stays()
		Expect(s.machines(Default)).To(HaveLen(4))
		Expect(s.instances(Default)).To(HaveLen(2))
		Expect(suite.Client.Delete(s.ctx, s.get(Default))).To(Succeed())
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(s.drained).To(HaveLen(2))
			g.Expect(s.fooMachines(g)).To(HaveLen(2))
		}).WithPolling(stepTime).Should(Succeed(), "the unused pool is drained when it is deleted")
		for _, fooMachine := range s.fooMachines(Default) {
			Expect(fooMachine.OwnerReferences[0].Name).To(Equal("other"))
			Expect(fooMachine.DeletionTimestamp.IsZero()).To(BeTrue())
		}
	})

	It("deletes the Machines of all lost instances at once, since nothing is left to drain", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		for _, i := range s.instances(Default) {
			Expect(suite.Cloud.LoseInstance(i.Name)).To(BeTrue())
		}
		deleting := func(g Gomega) int {
			return len(slices.DeleteFunc(s.machines(g), func(m clusterv1.Machine) bool { return m.DeletionTimestamp.IsZero() }))
		}
		Eventually(deleting).Should(Equal(3))
		Expect(s.get(Default).Spec.ProviderIDList).To(HaveLen(3))
		suite.Cloud.GrowPools() // once: the event is about all pools, and all are reconciled again
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(s.get(g).Status.AvailableReplicas).To(HaveValue(BeEquivalentTo(3)))
			g.Expect(s.drained).To(HaveLen(3))
		}).WithPolling(stepTime).Should(Succeed(), "all are replaced")
		s.settles(3)
	})

	It("deletes the Machine of a FooMachine that was deleted by hand", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		before := s.fooMachines(Default)
		fooMachine := before[0]
		machine := &clusterv1.Machine{}
		Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(&fooMachine), machine)).To(Succeed())
		id, err := cloud.InstanceID(fooMachine.Spec.ProviderID)
		Expect(err).NotTo(HaveOccurred())
		Expect(suite.Client.Delete(s.ctx, &fooMachine)).To(Succeed())
		Expect(suite.Cloud.DeleteInstance(s.ctx, id)).To(Succeed())
		Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(&fooMachine), &fooMachine)).To(Succeed())
		fooMachine.Finalizers = nil
		Expect(suite.Client.Update(s.ctx, &fooMachine)).To(Succeed())

		By("waiting while Cluster API keeps the Machine without its FooMachine")
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(machine), machine)).To(Succeed())
			g.Expect(machine.DeletionTimestamp.IsZero()).To(BeFalse())
		}).Should(Succeed(), "nobody else deletes it")
		machine.Finalizers = nil
		Expect(suite.Client.Update(s.ctx, machine)).To(Succeed())
		s.settles(3)
		Expect(s.drained).NotTo(ContainElement(BeElementOf(before[1].Name, before[2].Name)), "the others stay")
	})

	It("replaces a stopped instance", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		stopped := s.instances(Default)[1]
		Expect(suite.Cloud.StopInstance(stopped.Name, "out of memory")).To(BeTrue())
		s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRepairingReason)
		s.settles(3)
		Expect(s.drained).To(Equal([]string{stopped.Hostname}))
	})

	It("replaces a Machine that a MachineHealthCheck marks for remediation", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		machine := s.machines(Default)[0]
		before := machine.DeepCopy()
		for _, kind := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition} {
			conditions.Set(&machine, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Test"})
		}
		Expect(suite.Client.Status().Patch(s.ctx, &machine, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(s.drained).To(Equal([]string{machine.Name}))
		}).Should(Succeed(), "its owner remediates it")
		s.settles(3)
		Expect(s.drained).To(HaveLen(1))
	})

	It("propagates the MachinePool's template to Machines and FooMachines, and removes what it drops", func() {
		s := newStory(2, infrav1.FooMachinePoolStrategy{})
		s.settles(2)
		s.change(func(m *clusterv1.MachinePool) {
			m.Spec.Template.Labels = map[string]string{"tier": "front"}
			m.Spec.Template.Annotations = map[string]string{"note": "one"}
			m.Spec.Template.Spec.MinReadySeconds = ptr.To[int32](7)
			m.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](30)
			m.Spec.Template.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Mine"}}
		})
		Eventually(func(g Gomega) {
			for _, machine := range s.machines(g) {
				g.Expect(machine.Spec.MinReadySeconds).To(HaveValue(BeEquivalentTo(7)))
				g.Expect(machine.Spec.Deletion.NodeDrainTimeoutSeconds).To(HaveValue(BeEquivalentTo(30)))
				g.Expect(machine.Spec.ReadinessGates).To(HaveLen(1))
			}
			for _, fooMachine := range s.fooMachines(g) {
				g.Expect(fooMachine.Labels).To(HaveKeyWithValue("tier", "front"))
				g.Expect(fooMachine.Labels).To(HaveKey(clusterv1.MachinePoolNameLabel))
				g.Expect(fooMachine.Annotations).To(HaveKeyWithValue("note", "one"))
			}
		}).Should(Succeed(), "changes apply in place")
		s.change(func(m *clusterv1.MachinePool) {
			m.Spec.Template.Labels, m.Spec.Template.Annotations = nil, nil
			m.Spec.Template.Spec.MinReadySeconds = nil
			m.Spec.Template.Spec.Deletion = clusterv1.MachineDeletionSpec{}
			m.Spec.Template.Spec.ReadinessGates = nil
		})
		Eventually(func(g Gomega) {
			for _, machine := range s.machines(g) {
				g.Expect(machine.Spec.MinReadySeconds).To(BeNil())
				g.Expect(machine.Spec.Deletion.NodeDrainTimeoutSeconds).To(BeNil())
				g.Expect(machine.Spec.ReadinessGates).To(BeEmpty())
			}
			for _, fooMachine := range s.fooMachines(g) {
				g.Expect(fooMachine.Labels).NotTo(HaveKey("tier"))
				g.Expect(fooMachine.Labels).To(HaveKey(clusterv1.MachinePoolNameLabel))
				g.Expect(fooMachine.Annotations).NotTo(HaveKey("note"))
			}
		}).Should(Succeed(), "dropped fields are removed")
		Expect(s.drained).To(BeEmpty())
	})

	It("stays spread over the failure domains of the MachinePool", func() {
		s := newStory(4, infrav1.FooMachinePoolStrategy{})
		s.change(func(m *clusterv1.MachinePool) { m.Spec.FailureDomains = []string{"zone-b", "zone-a"} })
		s.settles(4)
		zones := func() map[string]int {
			count := map[string]int{}
			for _, i := range s.instances(Default) {
				count[i.Zone]++
			}
			return count
		}
		s.change(version("v1.35.4"))
		s.settles(4)
		Expect(zones()).To(Equal(map[string]int{"zone-a": 2, "zone-b": 2}))
		s.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](2) })
		s.settles(2)
		Expect(zones()).To(Equal(map[string]int{"zone-a": 1, "zone-b": 1}))
	})

	It("keeps the size that an external autoscaler set before a rollout", func() {
		s := newStory(2, strategy(0, 1))
		s.change(func(m *clusterv1.MachinePool) {
			m.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "autoscaler"}
		})
		s.settles(2)
		scale := func(size int32) {
			GinkgoHelper()
			pool, err := suite.Cloud.GetPool(s.ctx, s.cloudName())
			Expect(err).NotTo(HaveOccurred())
			_, err = suite.Cloud.ScalePool(s.ctx, s.cloudName(), size, pool.Version)
			Expect(err).NotTo(HaveOccurred())
		}
		scale(4)
		s.settles(4)
		replicas := func() *int32 {
			Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(s.machinePool), s.machinePool)).To(Succeed())
			return s.machinePool.Spec.Replicas
		}
		Eventually(replicas).Should(HaveValue(BeEquivalentTo(4)), "the MachinePool follows its pool")
		s.watch()
		s.change(version("v1.35.4"))
		s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		s.settles(4)
		Expect(s.drained).To(HaveLen(4))
		Expect(s.most).To(Equal(4))
		Expect(replicas()).To(HaveValue(BeEquivalentTo(4)))

		By("overwriting a size that is set during the next rollout")
		s.change(version("v1.36.3"))
		Eventually(func(g Gomega) {
			g.Expect(s.machines(g)).To(ContainElement(HaveField("DeletionTimestamp", Not(BeNil()))))
		}).Should(Succeed(), "the first one is replaced")
		scale(6)
		s.settles(4)
		Eventually(replicas).Should(HaveValue(BeEquivalentTo(4)))
		scale(6)
		s.settles(6)
		Eventually(replicas).Should(HaveValue(BeEquivalentTo(6)))
	})

	It("removes what the cloud refilled during a drain, although an external autoscaler sets the size", func() {
		s := newStory(3, strategy(1, 0))
		s.change(func(m *clusterv1.MachinePool) {
			m.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "autoscaler"}
		})
		s.changePool(func(p *infrav1.FooMachinePool) { p.Spec.Template.Interruptible = ptr.To(true) })
		s.settles(3)
		s.watch()
		reclaimed := s.instances(Default)[0]
		s.held = reclaimed.Hostname
		Expect(suite.Cloud.ReclaimInstance(reclaimed.Name, time.Now().Add(time.Hour))).To(BeTrue())
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(s.get(g).Status.AvailableReplicas).To(HaveValue(BeEquivalentTo(3)))
			g.Expect(s.instances(g)).To(HaveLen(4))
		}).WithPolling(stepTime).Should(Succeed(), "the replacement is ready before the drain ends")
		Expect(suite.Cloud.LoseInstance(reclaimed.Name)).To(BeTrue())
		suite.Cloud.GrowPools()
		s.step(Default)
		s.held = ""
		s.settles(3)
		Consistently(func(g Gomega) {
			s.step(g)
			g.Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(s.machinePool), s.machinePool)).To(Succeed())
			g.Expect(s.machinePool.Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))
			g.Expect(suite.Cloud.GetPool(s.ctx, s.cloudName())).To(HaveField("Size", BeEquivalentTo(3)))
		}, "1s", "50ms").Should(Succeed(), "nobody asked for more")
	})

	It("writes nothing while nothing changes", func() {
		s := newStory(3, infrav1.FooMachinePoolStrategy{})
		s.settles(3)
		s.has(infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue, infrav1.FooMachinePoolReadyReason)
		versions := func(g Gomega) []string {
			found := []string{s.get(g).ResourceVersion}
			for _, m := range s.machines(g) {
				found = append(found, m.ResourceVersion)
			}
			for _, m := range s.fooMachines(g) {
				found = append(found, m.ResourceVersion)
			}
			return found
		}
		ordered := func() int { return suite.Cloud.Calls(fake.CallEnsurePool) + suite.Cloud.Calls(fake.CallScalePool) }
		before, orders := versions(Default), ordered()
		for range 5 {
			suite.Cloud.GrowPools() // an event that makes the controller reconcile all pools
		}
		Consistently(versions, "1s").Should(Equal(before))
		Expect(ordered()).To(Equal(orders))
	})
})
