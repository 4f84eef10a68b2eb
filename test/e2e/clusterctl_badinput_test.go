//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"maps"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// variables are those of a template.
type variables map[string]string

// rightVariables are sufficient for the default flavor.
var rightVariables = variables{"KUBERNETES_VERSION": currentVersion, "CONTROL_PLANE_MACHINE_COUNT": "1", "WORKER_MACHINE_COUNT": "1"}

// Variables come from the environment here, and clusterctl validates few of them. Invalid values
// that it accepts are rejected when the cluster is applied, before anything is created. Values that
// only the cloud can check, its instance types and versions, are reported in conditions of the
// machines.
var _ = Describe("A template with wrong variables", Label("clusterctl", "bad-input", needsNextRelease), func() {
	const namespace = "wrong-variables"

	DescribeTable("is not generated", func(ctx SpecContext, flavor string, changes variables, says ...string) {
		got := generateFrom(ctx, namespace, flavor, changes)
		Expect(got.code).NotTo(BeZero(), got.stdout)
		Expect(got.stdout).To(BeEmpty())
		Expect(got.stderr).To(containAll(says))
	},
		Entry("no version", NodeTimeout(soon), "", variables{"KUBERNETES_VERSION": ""}, "KUBERNETES_VERSION", "is not set"),
		Entry("a count that is not a number", NodeTimeout(soon), "", variables{"CONTROL_PLANE_MACHINE_COUNT": "two"}, "invalid value for CONTROL_PLANE_MACHINE_COUNT"),
		Entry("a count below zero", NodeTimeout(soon), "", variables{"WORKER_MACHINE_COUNT": "-1"}, "invalid WorkerMachineCount", "greater than or equal to 0"),
		Entry("no control plane machine", NodeTimeout(soon), "", variables{"CONTROL_PLANE_MACHINE_COUNT": "0"}, "invalid ControlPlaneMachineCount", "greater than or equal to 1"),
		Entry("no etcd for the flavor that needs one", NodeTimeout(soon), "external-etcd", nil, "FOO_ETCD_ENDPOINTS", "is not set"),
		Entry("a value that is not YAML", NodeTimeout(soon), "ha", variables{"FOO_WORKER_FAILURE_DOMAINS": "[zone-a"}, "yaml"),
		Entry("a flavor that does not exist", NodeTimeout(soon), "nope", nil, "cluster-template-nope.yaml", "no such file"),
	)

	DescribeTable("is not applied", func(ctx SpecContext, flavor string, changes variables, says ...string) {
		generated := generateFrom(ctx, namespace, flavor, changes)
		Expect(generated.code).To(BeZero(), generated.stderr)
		m := sharedManagement(ctx)
		m.ensureNamespace(ctx, namespace)
		cmd := command(ctx, kubectl(), "--kubeconfig="+m.kubeconfig, "apply", "--dry-run=server", "--filename=-")
		cmd.Stdin = strings.NewReader(generated.stdout)
		got := end(cmd)
		Expect(got.code).NotTo(BeZero(), got.stdout)
		Expect(got.stderr).To(containAll(says))
	},
		Entry("a version without numbers", NodeTimeout(clusterUp), "", variables{"KUBERNETES_VERSION": "latest"}, "FooControlPlane", "spec.version", "latest"),
		Entry("a version without its patch", NodeTimeout(clusterUp), "", variables{"KUBERNETES_VERSION": "v1.36"}, "FooControlPlane", "spec.version", "v1.36"),
		Entry("two etcd members", NodeTimeout(clusterUp), "", variables{"CONTROL_PLANE_MACHINE_COUNT": "2"}, "FooControlPlane", "spec.replicas"),
		Entry("a network without its size", NodeTimeout(clusterUp), "", variables{"FOO_POD_CIDR": "10.244.0.0"}, "Cluster", "10.244.0.0"),
		Entry("an invalid instance type", NodeTimeout(clusterUp), "", variables{"FOO_WORKER_INSTANCE_TYPE": strings.Repeat("huge", 20)}, "FooMachinePool", "instanceType"),
		Entry("a zone instead of a list of them", NodeTimeout(clusterUp), "ha", variables{"FOO_WORKER_FAILURE_DOMAINS": "zone-a"}, "MachinePool", "failureDomains"),
		Entry("an endpoint instead of a list of them", NodeTimeout(clusterUp), "external-etcd", variables{"FOO_ETCD_ENDPOINTS": "https://192.0.2.1:2379"}, "FooControlPlane", "endpoints"),
	)
})

// generateFrom lets clusterctl generate a flavor of the sources with valid variables except for the
// changes.
func generateFrom(ctx context.Context, namespace, flavor string, changes variables) outcome {
	GinkgoHelper()
	cmd := command(ctx, "tools/clusterctl", "generate", "cluster", "wrong", "--config="+filepath.Join(bin, "release/clusterctl.yaml"),
		"--infrastructure=foo:"+nextRelease, "--flavor="+flavor, "--target-namespace="+namespace)
	all := maps.Clone(rightVariables)
	maps.Copy(all, changes)
	for name, value := range all {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return end(cmd)
}

// ensureNamespace creates a namespace if it does not exist. Nothing is created in it.
func (m *management) ensureNamespace(ctx context.Context, name string) {
	GinkgoHelper()
	err := m.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
}
