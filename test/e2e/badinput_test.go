//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// All of these end at the FooMachine whose instance cannot be created, with a condition and a
// warning that name the problem and the allowed values. None needs a running control plane. A version
// that the cloud does not have is a story of its own, because it can be reverted.
var _ = Describe("What a user gets wrong", Ordered, ContinueOnFailure, Label("bad-input"), func() {
	const namespace = "bad-input"
	var m *management

	BeforeAll(func(ctx SpecContext) {
		m = sharedManagement(ctx)
		m.namespace(ctx, namespace)
		m.apply(ctx, bareCluster(namespace, "bare"))
	}, NodeTimeout(clusterUp))

	DescribeTable("in the template of a cluster",
		func(ctx SpecContext, name string, want shape, changes []func(*unstructured.Unstructured), condition, reason string, says ...string) {
			c := m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: name}, want, changes...)
			Eventually(func(g Gomega) {
				machines := c.fooMachines(g, ctx)
				g.Expect(machines).To(HaveLen(1))
				m.expectProblem(g, ctx, &machines[0], condition, reason, says...)
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
			By("checking what the Machine reports about it")
			Eventually(func(g Gomega) {
				var machine clusterv1.Machine
				g.Expect(m.Get(ctx, client.ObjectKeyFromObject(&c.fooMachines(g, ctx)[0]), &machine)).To(Succeed())
				found := expectCondition(g, machine.Status.Conditions, clusterv1.InfrastructureReadyCondition, metav1.ConditionFalse)
				g.Expect(found.Message).To(containAll(says))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
			m.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", name)
		},
		Entry("an instance type that the cloud does not have", NodeTimeout(2*clusterUp), "type",
			shape{controlPlanes: 1, version: currentVersion, controlPlaneType: "huge"}, nil,
			infrav1.FooMachineInstanceProvisionedCondition, infrav1.CloudInvalidReason, `"huge"`, "small", "medium"),
		Entry("more than the quota", NodeTimeout(2*clusterUp), "quota",
			shape{controlPlanes: 1, version: currentVersion, controlPlaneType: "giant"}, nil,
			infrav1.FooMachineInstanceProvisionedCondition, infrav1.CloudQuotaExceededReason, "cpus", "limit 200", "requested 1000"),
		Entry("a bootstrap command that fails", NodeTimeout(2*clusterUp), "command",
			shape{controlPlanes: 1, version: currentVersion}, []func(*unstructured.Unstructured){commandsBeforeKubeadm("echo no such luck >&2; exit 7")},
			infrav1.FooMachineBootstrapExecSucceededCondition, infrav1.FooMachineBootstrapFailedReason, "exit 7", "no such luck"),
	)

	DescribeTable("in a Machine with its own bootstrap data",
		func(ctx SpecContext, name, zone, data string, condition, reason string, says ...string) {
			fooMachine := m.newMachine(ctx, client.ObjectKey{Namespace: namespace, Name: name}, zone, data)
			Eventually(func(g Gomega) {
				m.expectProblem(g, ctx, fooMachine, condition, reason, says...)
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		},
		Entry("a zone that the cloud does not have", NodeTimeout(2*clusterUp), "zone", "zone-x", "#cloud-config\n",
			infrav1.FooMachineInstanceProvisionedCondition, infrav1.CloudInvalidReason, `"zone-x"`, "zone-a", "zone-b", "zone-c"),
		Entry("cloud-init that is not YAML", NodeTimeout(2*clusterUp), "no-yaml", "", "#cloud-config\nruncmd: [\n",
			infrav1.FooMachineBootstrapExecSucceededCondition, infrav1.FooMachineBootstrapFailedReason, "yaml"),
		Entry("a file that cannot be decoded", NodeTimeout(2*clusterUp), "no-gzip", "",
			"#cloud-config\nwrite_files:\n- path: /etc/broken\n  encoding: gzip+base64\n  content: bm90IGd6aXA=\n",
			infrav1.FooMachineBootstrapExecSucceededCondition, infrav1.FooMachineBootstrapFailedReason, "/etc/broken", "gzip"),
		Entry("data that is not cloud-init", NodeTimeout(2*clusterUp), "no-cloud-init", "", "hello world\n",
			infrav1.FooMachineBootstrapExecSucceededCondition, infrav1.FooMachineBootstrapFailedReason, "#cloud-config"),
	)

	DescribeTable("in a pool",
		func(ctx SpecContext, name, instanceType, reason string, says ...string) {
			pool := m.newPool(ctx, client.ObjectKey{Namespace: namespace, Name: name}, instanceType)
			Eventually(func(g Gomega) {
				g.Expect(m.Get(ctx, client.ObjectKeyFromObject(pool), pool)).To(Succeed())
				found := expectCondition(g, pool.Status.Conditions, infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse)
				g.Expect(found.Reason).To(Equal(reason), found.Message)
				g.Expect(found.Message).To(containAll(says))
				expectCondition(g, pool.Status.Conditions, infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse)
				g.Expect(m.warnings(pool)(g, ctx)).To(ContainElement(containAll(append([]string{reason}, says...))))
			}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		},
		Entry("an instance type that the cloud does not have", NodeTimeout(2*clusterUp), "pool-type", "huge",
			infrav1.CloudInvalidReason, `"huge"`, "small", "medium"),
		Entry("more than the quota", NodeTimeout(2*clusterUp), "pool-quota", "giant",
			infrav1.CloudQuotaExceededReason, "cpus", "limit 200", "requested 1000"),
	)

	It("a wrong token is reported, and work continues when it is corrected", func(ctx SpecContext) {
		token := m.env["FOO_CLOUD_TOKEN_FILE"]
		right, err := os.ReadFile(token)
		Expect(err).NotTo(HaveOccurred())
		putRight := func() { Expect(os.WriteFile(token, right, 0o600)).To(Succeed()) }
		DeferCleanup(putRight)
		const wrong = "not-the-token"
		Expect(os.WriteFile(token, []byte(wrong), 0o600)).To(Succeed())

		m.apply(ctx, bareCluster(namespace, "locked-out"))
		fooCluster := &infrav1.FooCluster{}
		key := client.ObjectKey{Namespace: namespace, Name: "locked-out"}
		Eventually(func(g Gomega) {
			g.Expect(m.Get(ctx, key, fooCluster)).To(Succeed())
			found := expectCondition(g, fooCluster.Status.Conditions, infrav1.FooClusterLoadBalancerReadyCondition, metav1.ConditionFalse)
			g.Expect(found.Reason).To(Equal(infrav1.CloudUnauthorizedReason))
			g.Expect(found.Message).To(And(ContainSubstring("token"), Not(ContainSubstring(wrong))))
			g.Expect(m.warnings(fooCluster)(g, ctx)).To(ContainElement(ContainSubstring(infrav1.CloudUnauthorizedReason)))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())

		putRight()
		Eventually(func(g Gomega) {
			g.Expect(m.Get(ctx, key, fooCluster)).To(Succeed())
			expectCondition(g, fooCluster.Status.Conditions, infrav1.FooClusterReadyCondition, metav1.ConditionTrue)
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the manager does not retry")
	}, NodeTimeout(2*clusterUp))

	It("foocloud tells a caller with a wrong token what to check", func(ctx SpecContext) {
		token := filepath.Join(suiteDir, "wrong-token")
		Expect(os.WriteFile(token, []byte("not-the-token\n"), 0o600)).To(Succeed())
		got := end(command(ctx, "foocloud", "instances", "--endpoint="+m.env["FOO_CLOUD_ENDPOINT"], "--token-file="+token))
		Expect(got.code).To(Equal(4), got.stderr)
		Expect(got.stderr).To(And(ContainSubstring("unauthorized"), ContainSubstring("token"), Not(ContainSubstring("not-the-token"))))
	}, NodeTimeout(soon))
})

// expectProblem expects a condition of the FooMachine and a warning that contain all of these
// texts.
func (m *management) expectProblem(g Gomega, ctx context.Context, machine *infrav1.FooMachine, condition, reason string, says ...string) {
	g.Expect(m.Get(ctx, client.ObjectKeyFromObject(machine), machine)).To(Succeed())
	found := expectCondition(g, machine.Status.Conditions, condition, metav1.ConditionFalse)
	g.Expect(found.Reason).To(Equal(reason), found.Message)
	g.Expect(found.Message).To(containAll(says))
	expectCondition(g, machine.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionFalse)
	g.Expect(m.warnings(machine)(g, ctx)).To(ContainElement(containAll(append([]string{reason}, says...))))
}

func containAll(texts []string) OmegaMatcher {
	matchers := make([]OmegaMatcher, 0, len(texts))
	for _, text := range texts {
		matchers = append(matchers, ContainSubstring(text))
	}
	return And(matchers...)
}

// bareCluster is a Cluster without a control plane: its Machines have their own bootstrap data.
func bareCluster(namespace, name string) []*unstructured.Unstructured {
	infra := object(infrav1.GroupVersion.String(), "FooCluster", namespace, name, nil)
	return []*unstructured.Unstructured{infra, object(clusterv1.GroupVersion.String(), "Cluster", namespace, name, map[string]any{
		"infrastructureRef": map[string]any{"apiGroup": infrav1.GroupVersion.Group, "kind": "FooCluster", "name": name},
	})}
}

func object(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}}
	if spec != nil {
		content["spec"] = spec
	}
	return &unstructured.Unstructured{Object: content}
}

// newMachine creates a worker Machine of the bare cluster with its FooMachine.
func (m *management) newMachine(ctx context.Context, key client.ObjectKey, zone, data string) *infrav1.FooMachine {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: "bare"}}
	fooMachine := &infrav1.FooMachine{ObjectMeta: meta}
	secret := bootstrapData(meta, data)
	machine := &clusterv1.Machine{ObjectMeta: meta, Spec: clusterv1.MachineSpec{
		ClusterName: "bare", Version: currentVersion, FailureDomain: zone,
		Bootstrap:         clusterv1.Bootstrap{DataSecretName: ptr.To(secret.Name)},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "FooMachine", Name: key.Name},
	}}
	for _, one := range []client.Object{secret, fooMachine, machine} {
		Expect(m.Create(ctx, one)).To(Succeed())
	}
	return fooMachine
}

func bootstrapData(meta metav1.ObjectMeta, data string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta, Type: clusterv1.ClusterSecretType, Data: map[string][]byte{"value": []byte(data), "format": []byte("cloud-config")}}
}

// newPool creates a MachinePool of the bare cluster with its FooMachinePool.
func (m *management) newPool(ctx context.Context, key client.ObjectKey, instanceType string) *infrav1.FooMachinePool {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: "bare"}}
	fooPool := &infrav1.FooMachinePool{ObjectMeta: meta}
	fooPool.Spec.Template.InstanceType = instanceType
	secret := bootstrapData(meta, "#cloud-config\n")
	pool := &clusterv1.MachinePool{ObjectMeta: meta, Spec: clusterv1.MachinePoolSpec{
		ClusterName: "bare", Replicas: ptr.To[int32](1),
		Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
			ClusterName: "bare", Version: currentVersion,
			Bootstrap:         clusterv1.Bootstrap{DataSecretName: ptr.To(secret.Name)},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "FooMachinePool", Name: key.Name},
		}},
	}}
	for _, one := range []client.Object{secret, fooPool, pool} {
		Expect(m.Create(ctx, one)).To(Succeed())
	}
	return fooPool
}

var _ = Describe("The flags of the manager", Label("bad-input"), func() {
	DescribeTable("are rejected with the allowed values", func(ctx SpecContext, args []string, says ...string) {
		got := end(command(ctx, "manager", args...))
		Expect(got.code).To(Equal(1), got.stderr)
		Expect(strings.TrimSpace(got.stderr)).To(containAll(says))
	},
		Entry("no cloud", NodeTimeout(soon), nil, "--cloud-endpoint", "unix:///path", "https://host:port"),
		Entry("no token", NodeTimeout(soon), []string{"--cloud-endpoint=unix:///nowhere"}, "--cloud-token-file"),
		Entry("an unknown role", NodeTimeout(soon), []string{"--providers=storage"}, `"storage"`, "control-plane", "infrastructure"),
		Entry("an unknown flag", NodeTimeout(soon), []string{"--no-such-flag"}, "unknown flag: --no-such-flag"),
		Entry("an unknown feature gate", NodeTimeout(soon), []string{"--feature-gates=Flying=true"}, "unrecognized feature gate: Flying"),
	)
})
