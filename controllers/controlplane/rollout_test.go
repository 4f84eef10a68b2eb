//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// settle lets a fixture reach its desired number of healthy Machines.
func (f *fixture) settle(ctx context.Context) {
	GinkgoHelper()
	f.provision(ctx)
	f.initialize(ctx)
	for number := 2; number <= int(*f.controlPlane.Spec.Replicas); number++ {
		Eventually(func() []clusterv1.Machine { return f.machines(ctx) }).Should(HaveLen(number))
		f.join(ctx)
	}
	f.hold(ctx)
	Eventually(f.plan(ctx)).Should(Equal("None Settled"))
}

// hold adds a finalizer to Machines so that they stay until the test removes it.
func (f *fixture) hold(ctx context.Context) {
	GinkgoHelper()
	for _, machine := range f.machines(ctx) {
		if len(machine.Finalizers) == 0 {
			update(ctx, &machine, func() { machine.Finalizers = []string{"test.example.com/machine"} })
		}
	}
}

// withExternalEtcd configures external etcd and creates its secrets.
func withExternalEtcd(f *fixture) {
	GinkgoHelper()
	spec := &f.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration
	spec.Etcd.External = bootstrapv1.ExternalEtcd{
		Endpoints: []string{"https://etcd.example.com:2379"}, CAFile: "/ca.crt", CertFile: "/etcd.crt", KeyFile: "/etcd.key",
	}
	certificate := &secret.Certificate{Purpose: secret.EtcdCA}
	Expect(certificate.Generate()).To(Succeed())
	for _, purpose := range []secret.Purpose{secret.EtcdCA, secret.APIServerEtcdClient} {
		Expect(c.Create(context.Background(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.cluster.Namespace, Name: secret.Name(f.cluster.Name, purpose)},
			Data:       map[string][]byte{secret.TLSCrtDataName: certificate.KeyPair.Cert, secret.TLSKeyDataName: certificate.KeyPair.Key},
			Type:       corev1.SecretTypeTLS,
		})).To(Succeed())
	}
}

// plan returns a function for Eventually that reads the current plan.
func (f *fixture) plan(ctx context.Context) func() string {
	return func() string {
		GinkgoHelper()
		plan := f.get(ctx).Status.Plan
		return plan.Action + " " + plan.Reason
	}
}

func (f *fixture) names(ctx context.Context) []string {
	GinkgoHelper()
	var names []string
	for _, machine := range f.machines(ctx) {
		names = append(names, machine.Name)
	}
	return names
}

// newcomer waits for a new Machine and lets it join.
func (f *fixture) newcomer(ctx context.Context, before []string) clusterv1.Machine {
	GinkgoHelper()
	var found clusterv1.Machine
	Eventually(func(g Gomega) {
		g.Expect(f.machines(ctx)).To(ContainElement(HaveField("Name", Not(BeElementOf(before))), &found))
	}).Should(Succeed())
	f.hold(ctx)
	f.join(ctx)
	return found
}

// findUnhealthy plays a MachineHealthCheck.
func findUnhealthy(ctx context.Context, machine *clusterv1.Machine) {
	GinkgoHelper()
	update(ctx, machine, func() {
		for _, conditionType := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition} {
			conditions.Set(machine, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: "Test"})
		}
	})
}

func (f *fixture) ownerRemediated(ctx context.Context, machine *clusterv1.Machine) func() string {
	return func() string {
		GinkgoHelper()
		Expect(c.Get(ctx, client.ObjectKeyFromObject(machine), machine)).To(Succeed())
		condition := conditions.Get(machine, clusterv1.MachineOwnerRemediatedCondition)
		if condition == nil {
			return ""
		}
		return condition.Reason + ": " + condition.Message
	}
}

var _ = Describe("Rollout", func() {
	It("makes the new Machine first with maxSurge 1, and moves the leadership of etcd", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.settle(ctx)
		old := f.names(ctx)
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Version = "v1.37.0" })
		machine := f.newcomer(ctx, old)
		Expect(machine.Spec.Version).To(Equal("v1.37.0"))
		Expect(workloads.calls(f.key())).To(ContainElement("prepare 1.37.0"), "kubeadm must find the new version in the cluster")
		Eventually(func() []string { return workloads.calls(f.key()) }).Should(ContainElement("leader " + old[0] + " to " + machine.Name))
		Eventually(func() []clusterv1.StatusVersion { return f.get(ctx).Status.Versions }).Should(HaveLen(2))
		f.removeOne(ctx)
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		Expect(f.names(ctx)).To(Equal([]string{machine.Name}))
		Eventually(f.condition(ctx, controlplanev1.RollingOutCondition)).Should(HavePrefix("False NotRollingOut"))
	})

	It("deletes the old Machine first with maxSurge 0", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3), func(f *fixture) {
			f.controlPlane.Spec.Rollout.Strategy = controlplanev1.FooControlPlaneRolloutStrategy{
				Type:          controlplanev1.RollingUpdateStrategyType,
				RollingUpdate: controlplanev1.FooControlPlaneRolloutStrategyRollingUpdate{MaxSurge: ptr.To(intstr.FromInt32(0))},
			}
		})
		f.settle(ctx)
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"true"} })
		for range 3 {
			before := f.names(ctx)
			f.removeOne(ctx)
			f.newcomer(ctx, before)
		}
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		Expect(f.get(ctx).Status.UpToDateReplicas).To(HaveValue(Equal(int32(3))))
		Expect(f.controlPlane.Status.Etcd).To(And(
			HaveField("Voters", HaveValue(Equal(int32(3)))), HaveField("Healthy", HaveValue(Equal(int32(3)))), HaveField("Quorum", HaveValue(Equal(int32(2))))))
	})

	It("gives up the new Machine if the user reverts the version before it has joined", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3))
		f.settle(ctx)
		old := f.names(ctx)
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Version = "v1.37.0" })
		Eventually(func() []string { return f.names(ctx) }).Should(HaveLen(4))
		f.hold(ctx)
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Version = "v1.36.3" })
		f.letGo(ctx)
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		Expect(f.names(ctx)).To(ConsistOf(old))
		Expect(workloads.calls(f.key())).NotTo(ContainElement(HavePrefix("remove ")))
	})

	It("gives up the first Machine if the user reverts the version before it is up", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) { f.controlPlane.Spec.Version = "v1.36.30" })
		f.provision(ctx)
		failed := f.expectMachines(ctx, 1)[0]
		f.hold(ctx)
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Version = "v1.36.3" })
		f.letGo(ctx)
		Eventually(func() []clusterv1.Machine { return f.machines(ctx) }).Should(ConsistOf(And(
			HaveField("Name", Not(Equal(failed.Name))), HaveField("Spec.Version", "v1.36.3"))))
		f.initialize(ctx)
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
	})

	It("leaves it to the user to give up a first Machine that is up", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		first := f.expectMachines(ctx, 1)[0]
		update(ctx, &first, func() { first.Status.Initialization.InfrastructureProvisioned = ptr.To(true) })
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Version = "v1.36.4" })
		Eventually(func() string { return f.get(ctx).Status.Plan.Message }).Should(ContainSubstring("delete the Machine, and another one is created"))
		Consistently(func() []string { return f.names(ctx) }).Should(Equal([]string{first.Name}))
	})

	It("holds a rollout that the user did not ask for until it is confirmed", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.settle(ctx)
		old := f.machines(ctx)[0]
		config := &bootstrapv1.KubeadmConfig{}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(&old), config)).To(Succeed())
		update(ctx, config, func() {
			config.Spec.ClusterConfiguration.APIServer.CertSANs = []string{"as.another.release.would"}
			config.Spec.Files = []bootstrapv1.File{{Path: "/etc/secret", Content: "hidden"}}
		})
		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations = map[string]string{"look": "again"} })
		Eventually(f.condition(ctx, controlplanev1.RollingOutCondition)).Should(And(
			HavePrefix("False RolloutHeld"),
			ContainSubstring("spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs"), ContainSubstring("as.another.release.would"),
			ContainSubstring(controlplanev1.ConfirmRolloutAnnotation), Not(ContainSubstring("hidden"))))
		Eventually(f.plan(ctx)).Should(Equal("Wait RolloutHeld"))
		Consistently(func() []string { return f.names(ctx) }).Should(Equal([]string{old.Name}))

		By("still looking after add-ons and certificates")
		update(ctx, config, func() { delete(config.Annotations, clusterv1.MachineCertificatesExpiryDateAnnotation) })
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.12.4" })
		Eventually(func() string {
			var tag string
			workloads.change(f.key(), func(cluster *fakeCluster) { tag = cluster.addons.Config.DNS.ImageTag })
			return tag
		}).Should(Equal("v1.12.4"))
		Eventually(func() map[string]string {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
			return config.Annotations
		}).Should(HaveKey(clusterv1.MachineCertificatesExpiryDateAnnotation))
		Consistently(f.plan(ctx)).Should(Equal("Wait RolloutHeld"), "a change that replaces no Machine confirms no rollout")
		Expect(f.names(ctx)).To(Equal([]string{old.Name}))

		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations[controlplanev1.ConfirmRolloutAnnotation] = "another digest" })
		Consistently(func() []string { return f.names(ctx) }).Should(Equal([]string{old.Name}))

		message := f.condition(ctx, controlplanev1.RollingOutCondition)()
		digest := regexp.MustCompile(`confirm-rollout: "([0-9a-f]+)"`).FindStringSubmatch(message)
		Expect(digest).To(HaveLen(2), message)
		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations[controlplanev1.ConfirmRolloutAnnotation] = digest[1] })
		machine := f.newcomer(ctx, []string{old.Name})
		f.removeOne(ctx)
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		Expect(f.names(ctx)).To(Equal([]string{machine.Name}))
	})

	It("rolls out at spec.rollout.after", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.settle(ctx)
		old := f.machines(ctx)[0]
		at := metav1.NewTime(old.CreationTimestamp.Add(time.Second))
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Rollout.After = at })
		Expect(f.newcomer(ctx, []string{old.Name}).Name).NotTo(Equal(old.Name))
	})
})

// letGo plays Cluster API for the one Machine that is being deleted and has no Node.
func (f *fixture) letGo(ctx context.Context) {
	GinkgoHelper()
	var machine clusterv1.Machine
	Eventually(func(g Gomega) {
		g.Expect(f.machines(ctx)).To(ContainElement(HaveField("DeletionTimestamp", Not(BeNil())), &machine))
	}).Should(Succeed())
	update(ctx, &machine, func() {
		conditions.Set(&machine, metav1.Condition{
			Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
		})
	})
	Eventually(func(g Gomega) {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), &machine)).To(Succeed())
		g.Expect(machine.Annotations).NotTo(HaveKey(controlplanev1.PreTerminateHookCleanupAnnotation))
	}).Should(Succeed())
	release(ctx, &machine)
}

var _ = Describe("Remediation", func() {
	It("replaces an unhealthy Machine, and counts the retries", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3), func(f *fixture) { f.controlPlane.Spec.Remediation.MaxRetry = ptr.To[int32](1) })
		f.settle(ctx)
		for retry := range 2 {
			machines := f.machines(ctx)
			sick := machines[len(machines)-1]
			findUnhealthy(ctx, &sick)
			Eventually(f.ownerRemediated(ctx, &sick)).Should(HavePrefix(controlplanev1.MachineRemediationMachineDeletingReason))
			Eventually(func() controlplanev1.LastRemediationStatus { return f.get(ctx).Status.LastRemediation }).Should(And(
				HaveField("Machine", sick.Name), HaveField("RetryCount", HaveValue(Equal(int32(retry))))))
			Eventually(f.condition(ctx, controlplanev1.RemediatingCondition)).Should(HavePrefix("True"))
			before := f.names(ctx)
			f.removeOne(ctx)
			replacement := f.newcomer(ctx, before)
			Expect(replacement.Annotations[controlplanev1.RemediationForAnnotation]).To(ContainSubstring(sick.Name))
			Eventually(f.plan(ctx)).Should(Equal("None Settled"))
			Eventually(func() map[string]string { return f.get(ctx).Annotations }).ShouldNot(HaveKey(controlplanev1.RemediationInProgressAnnotation))
		}
		last := f.machines(ctx)[2]
		findUnhealthy(ctx, &last)
		Eventually(f.ownerRemediated(ctx, &last)).Should(And(
			HavePrefix(controlplanev1.MachineCannotBeRemediatedReason), ContainSubstring("spec.remediation.maxRetry")))
		update(ctx, &last, func() {
			conditions.Set(&last, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionTrue, Reason: "Test"})
		})
		Eventually(f.ownerRemediated(ctx, &last)).Should(BeEmpty(), "it has recovered")
	})

	It("replaces an unhealthy Machine without changing external etcd", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3), withExternalEtcd)
		f.settle(ctx)
		names := f.names(ctx)
		sick := f.machines(ctx)[1]
		findUnhealthy(ctx, &sick)
		Eventually(f.ownerRemediated(ctx, &sick)).Should(HavePrefix(controlplanev1.MachineRemediationMachineDeletingReason))
		f.dismiss(ctx, f.drainOne(ctx))
		replacement := f.newcomer(ctx, names)
		Expect(replacement.Annotations[controlplanev1.RemediationForAnnotation]).To(ContainSubstring(sick.Name))
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		Expect(f.names(ctx)).To(HaveLen(3))
		Expect(workloads.calls(f.key())).NotTo(ContainElement(Or(HavePrefix("remove"), HavePrefix("leader"))), "the members are the user's")
		Expect(conditions.Get(f.get(ctx), controlplanev1.EtcdClusterHealthyCondition)).To(BeNil())
	})

	It("keeps the only Machine, and says why", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.settle(ctx)
		machine := f.machines(ctx)[0]
		findUnhealthy(ctx, &machine)
		Eventually(f.ownerRemediated(ctx, &machine)).Should(And(
			HavePrefix(controlplanev1.MachineCannotBeRemediatedReason), ContainSubstring("it is the only one")))
		Eventually(f.condition(ctx, controlplanev1.RemediatingCondition)).Should(And(HavePrefix("True"), ContainSubstring("it is the only one")))
	})

	It("replaces the first Machine if it fails before it has initialized the control plane", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		first := f.expectMachines(ctx, 1)[0]
		f.hold(ctx)
		findUnhealthy(ctx, &first)
		f.letGo(ctx)
		Eventually(func() []string { return f.names(ctx) }).Should(And(HaveLen(1), Not(ContainElement(first.Name))))
		Expect(f.machines(ctx)[0].Annotations[controlplanev1.RemediationForAnnotation]).To(ContainSubstring(first.Name))
	})

	It("removes the member of a Machine that is gone, and replaces the Machine", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3))
		f.settle(ctx)
		names := f.names(ctx)
		lost := f.machines(ctx)[2]
		update(ctx, &lost, func() { delete(lost.Annotations, controlplanev1.PreTerminateHookCleanupAnnotation) })
		release(ctx, &lost)
		Expect(c.Delete(ctx, &lost)).To(Succeed())
		Eventually(func() []string { return workloads.calls(f.key()) }).Should(ContainElement("remove " + lost.Name))
		f.newcomer(ctx, names)
		Eventually(f.plan(ctx)).Should(Equal("None Settled"))
	})

	It("shows etcd alarms, and changes nothing", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.settle(ctx)
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.observation.Etcd.Members[0].Alarms = []string{"NOSPACE"} })
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Replicas = ptr.To[int32](3) })
		Eventually(f.condition(ctx, controlplanev1.EtcdClusterHealthyCondition)).Should(And(HavePrefix("False"), ContainSubstring("NOSPACE")))
		Eventually(func() []string { return f.get(ctx).Status.Etcd.Alarms }).Should(ConsistOf(ContainSubstring("NOSPACE")))
		Expect(f.machines(ctx)).To(HaveLen(1))
	})

	It("shows the last known state while the workload cluster is unreachable", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.settle(ctx)
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.unreachable = true })
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Replicas = ptr.To[int32](3) })
		Eventually(f.plan(ctx)).Should(Equal("Wait " + plan.ReasonWorkloadUnknown))
		Expect(f.condition(ctx, controlplanev1.AvailableCondition)()).To(HavePrefix("True"))
		Expect(f.condition(ctx, controlplanev1.EtcdClusterHealthyCondition)()).To(HavePrefix("True"))
		Expect(f.machines(ctx)).To(HaveLen(1))
	})
})
