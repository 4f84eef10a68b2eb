//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

var _ = Describe("Machines", func() {
	It("makes the first Machine with its KubeadmConfig and its infrastructure machine", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			spec := &f.controlPlane.Spec
			spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"team": "a"}
			spec.MachineTemplate.ObjectMeta.Annotations = map[string]string{"note": "b"}
			spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](17)
			spec.MachineTemplate.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Theirs"}}
			spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"true"}
			spec.KubeadmConfigSpec.InitConfiguration.NodeRegistration.Name = "init"
			spec.KubeadmConfigSpec.JoinConfiguration.NodeRegistration.Name = "join"
		})
		f.provision(ctx)
		machine := f.expectMachines(ctx, 1)[0]
		Expect(machine.Labels).To(And(
			HaveKeyWithValue(clusterv1.ClusterNameLabel, f.cluster.Name),
			HaveKeyWithValue(clusterv1.MachineControlPlaneLabel, ""),
			HaveKeyWithValue(clusterv1.MachineControlPlaneNameLabel, f.controlPlane.Name),
			HaveKeyWithValue("team", "a"),
		))
		Expect(machine.Annotations).To(And(HaveKeyWithValue("note", "b"), HaveKey(controlplanev1.PreTerminateHookCleanupAnnotation)))
		Expect(machine.OwnerReferences).To(ConsistOf(And(HaveField("UID", f.controlPlane.UID), HaveField("Controller", HaveValue(BeTrue())))))
		Expect(machine.Spec.Version).To(Equal("v1.36.3"))
		Expect(machine.Spec.Deletion.NodeDrainTimeoutSeconds).To(HaveValue(Equal(int32(17))))
		Expect(machine.Spec.ReadinessGates).To(ContainElements(
			HaveField("ConditionType", "Theirs"), HaveField("ConditionType", controlplanev1.MachineEtcdMemberHealthyCondition)))

		config := &bootstrapv1.KubeadmConfig{}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), config)).To(Succeed(), "it has the Machine's name")
		Expect(machine.Spec.Bootstrap.ConfigRef.Name).To(Equal(machine.Name))
		Expect(config.Spec.InitConfiguration.NodeRegistration.Name).To(Equal("init"))
		Expect(config.Spec.JoinConfiguration.IsDefined()).To(BeFalse())
		Expect(config.Spec.PreKubeadmCommands).To(Equal([]string{"true"}))
		Expect(config.Labels).To(HaveKeyWithValue("team", "a"))

		infra := infraObject("FooMachine", machine.ObjectMeta)
		Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), infra)).To(Succeed(), "it has the Machine's name")
		Expect(machine.Spec.InfrastructureRef).To(Equal(clusterv1.ContractVersionedObjectReference{
			APIGroup: infraGroup, Kind: "FooMachine", Name: machine.Name,
		}))
		Expect(infra.Object).To(HaveKeyWithValue("spec", HaveKeyWithValue("instanceType", "small")))
		Expect(infra.GetLabels()).To(HaveKeyWithValue(clusterv1.ClusterNameLabel, f.cluster.Name))
		Expect(infra.GetAnnotations()).To(And(
			HaveKeyWithValue(clusterv1.TemplateClonedFromNameAnnotation, f.template.GetName()),
			HaveKeyWithValue(clusterv1.TemplateClonedFromGroupKindAnnotation, "FooMachineTemplate."+infraGroup),
		))
		Eventually(f.condition(ctx, controlplanev1.MachinesUpToDateCondition)).Should(HavePrefix("True"))
	})

	It("is initialized the moment kubeadm is done", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		first := f.expectMachines(ctx, 1)[0]
		Expect(f.initialized(ctx)).To(BeFalse())
		infra := infraObject("FooMachine", first.ObjectMeta)
		update(ctx, infra, func() { set(infra, true, "status", "initialization", "provisioned") })
		Consistently(func() bool { return f.initialized(ctx) }).Should(BeFalse())
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.initialized = true })
		Eventually(func() bool { return f.initialized(ctx) }).Should(BeTrue(), "the controller asks the API server")
		Eventually(f.condition(ctx, controlplanev1.InitializedCondition)).Should(HavePrefix("True"))
	})

	It("scales up one healthy Machine at a time, and balances failure domains", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3))
		f.provision(ctx, "zone-a", "zone-b", "zone-c", "worker-d")
		f.initialize(ctx)
		f.expectMachines(ctx, 2)
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(ContainSubstring("it has no Node yet"))
		f.join(ctx)
		machines := f.expectMachines(ctx, 3)
		f.join(ctx)
		domains := map[string]int{}
		for _, machine := range machines {
			domains[machine.Spec.FailureDomain]++
		}
		Expect(domains).To(Equal(map[string]int{"zone-a": 1, "zone-b": 1, "zone-c": 1}))
		joined := &bootstrapv1.KubeadmConfig{}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(&machines[2]), joined)).To(Succeed())
		Expect(joined.Spec.JoinConfiguration.ControlPlane).NotTo(BeNil())
		Expect(joined.Spec.JoinConfiguration.Discovery.BootstrapToken.Token).To(Equal(fakeToken), "the bootstrap provider need not connect to the cluster")
		Expect(joined.Spec.InitConfiguration.IsDefined()).To(BeFalse())

		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"))
		Eventually(f.condition(ctx, controlplanev1.EtcdClusterHealthyCondition)).Should(HavePrefix("True"))
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(HavePrefix("False"))
		Eventually(func(g Gomega) {
			status := f.get(ctx).Status
			g.Expect(status.Replicas).To(HaveValue(Equal(int32(3))))
			g.Expect(status.UpToDateReplicas).To(HaveValue(Equal(int32(3))))
			g.Expect(status.Versions).To(Equal([]clusterv1.StatusVersion{{Version: "v1.36.3", Replicas: 3}}))
			g.Expect(status.Version).To(Equal("v1.36.3"))
			g.Expect(status.Selector).To(ContainSubstring(f.cluster.Name))
		}).Should(Succeed(), "the status is written after the conditions")
		f.expectMachines(ctx, 3)
		Eventually(func(g Gomega) {
			for _, machine := range f.machines(ctx) {
				g.Expect(conditions.IsTrue(&machine, clusterv1.MachineUpToDateCondition)).To(BeTrue())
				g.Expect(machine.Spec.MinReadySeconds).To(BeNil())
			}
		}).Should(Succeed(), "the conditions of Machines are written after the status")
	})

	It("does not scale up while a component is not healthy", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		workloads.change(f.key(), func(cluster *fakeCluster) {
			cluster.observation.Nodes[0].Pods[workload.Scheduler] = workload.Pod{State: workload.PodFailed, Message: "its container exited with code 1: Error"}
		})
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Replicas = ptr.To[int32](3) })
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(ContainSubstring("kube-scheduler: its container exited with code 1: Error"))
		Expect(f.machines(ctx)).To(HaveLen(1))
		Eventually(f.condition(ctx, controlplanev1.ControlPlaneComponentsHealthyCondition)).Should(HavePrefix("False"))
	})

	It("scales down by the etcd member first", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3))
		f.provision(ctx)
		f.initialize(ctx)
		f.expectMachines(ctx, 2)
		f.join(ctx)
		f.expectMachines(ctx, 3)
		f.join(ctx)
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"))
		for _, machine := range f.machines(ctx) {
			update(ctx, &machine, func() { machine.Finalizers = []string{"test.example.com/machine"} })
		}
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Replicas = ptr.To[int32](1) })

		f.removeOne(ctx)
		f.expectMachines(ctx, 2)
		f.removeOne(ctx)
		f.expectMachines(ctx, 1)
		Eventually(f.condition(ctx, controlplanev1.ScalingDownCondition)).Should(HavePrefix("False"))
	})

	It("refuses to skip a minor version", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Version = "v1.38.0" })
		Eventually(f.condition(ctx, controlplanev1.MachinesUpToDateCondition)).Should(And(
			HavePrefix("False"), ContainSubstring("Version v1.36.3, v1.38.0 required")))
		Eventually(f.condition(ctx, controlplanev1.RollingOutCondition)).Should(And(
			HavePrefix("True"), ContainSubstring("more than one minor version above v1.36.3"), ContainSubstring("first set spec.version to a v1.37 release")))
		Eventually(func() string { return f.get(ctx).Status.Plan.Reason }).Should(Equal(plan.ReasonVersionRefused))
		Expect(f.controlPlane.Status.UpToDateReplicas).To(HaveValue(BeZero()))
		Expect(f.machines(ctx)).To(HaveLen(1))
	})

	It("deletes what a killed manager has left behind", func(ctx SpecContext) {
		f := newFixture(ctx)
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(HavePrefix("True"))
		meta := metav1.ObjectMeta{Namespace: f.cluster.Namespace, Name: "half", Labels: map[string]string{
			clusterv1.ClusterNameLabel: f.cluster.Name, clusterv1.MachineControlPlaneNameLabel: f.controlPlane.Name,
		}}
		owner := metav1.OwnerReference{
			APIVersion: controlplanev1.GroupVersion.String(), Kind: "FooControlPlane", Name: f.controlPlane.Name, UID: f.controlPlane.UID,
		}
		config := &bootstrapv1.KubeadmConfig{ObjectMeta: meta}
		config.OwnerReferences = []metav1.OwnerReference{owner}
		infra := infraObject("FooMachine", meta)
		infra.SetOwnerReferences([]metav1.OwnerReference{owner})
		Expect(c.Create(ctx, config)).To(Succeed())
		Expect(c.Create(ctx, infra)).To(Succeed())

		f.provision(ctx)
		f.expectMachines(ctx, 1)
		for _, object := range []client.Object{config, infra} {
			err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
			Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%T", object)
		}
	})

	It("has the Cluster own the template", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.nameEndpoint(ctx)
		Eventually(func() []metav1.OwnerReference {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(f.template), f.template)).To(Succeed())
			return f.template.GetOwnerReferences()
		}).Should(ConsistOf(HaveField("UID", f.cluster.UID)))
	})

	It("names Machines by spec.machineNaming", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Spec.MachineNaming.Template = "{{ .cluster.name }}-master-{{ .random }}"
		})
		f.provision(ctx)
		Expect(f.expectMachines(ctx, 1)[0].Name).To(HavePrefix("c1-master-"))
	})

	It("names the template that is missing", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.Name = "nowhere"
		})
		f.provision(ctx)
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(ContainSubstring("FooMachineTemplate nowhere"))
		Expect(f.machines(ctx)).To(BeEmpty())
	})
})
