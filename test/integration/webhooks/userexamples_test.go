//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

const userExamples = "../../../examples"

// The examples change what clusterctl generates from a template. A patch that matches nothing is no
// error, so each example also says what it changes.
var _ = DescribeTable("An example for users is accepted", func(ctx SpecContext, example, flavor, kind string, value any, field ...string) {
	objects := buildExample(ctx, example, flavor)
	found := false
	for _, object := range objects {
		Expect(environment.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(&object), client.FieldOwner("gitops"), client.DryRunAll)).
			To(Succeed(), "%s %s", object.GetKind(), object.GetName())
		if object.GetKind() == kind {
			got, _, err := unstructured.NestedFieldNoCopy(object.Object, field...)
			Expect(err).NotTo(HaveOccurred())
			found = found || got == value
		}
	}
	Expect(found).To(BeTrue(), "%s: want %v in %v", kind, value, field)
},
	Entry("gitops", "gitops", flavors.Default, "MachinePool", nil, "spec", "replicas"),
	Entry("autoscaler", "autoscaler", flavors.Default, "MachinePool", "5",
		"metadata", "annotations", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"),
	Entry("network: the cluster", "network", flavors.Default, "Cluster", "cni", "metadata", "labels", "network"),
	Entry("network: the plugin", "network", flavors.Default, "ConfigMap", "cni", "metadata", "name"),
	Entry("other infrastructure: the control plane", "other-infrastructure", "kcp", "FooControlPlane", "v1.36.3", "spec", "version"),
	Entry("other infrastructure: the reference", "other-infrastructure", "kcp", "Cluster", "FooControlPlane", "spec", "controlPlaneRef", "kind"),
)

var _ = It("tests every example for users", func() {
	folders, err := filepath.Glob(filepath.Join(userExamples, "*", "kustomization.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(folders).To(HaveLen(4), "add an entry for a new example")
})

// buildExample does what examples/README.md says, with a flavor as the template.
func buildExample(ctx context.Context, example, flavor string) []unstructured.Unstructured {
	GinkgoHelper()
	all, err := flavors.Build()
	Expect(err).NotTo(HaveOccurred())
	folder := GinkgoT().TempDir()
	Expect(os.CopyFS(folder, os.DirFS(filepath.Join(userExamples, example)))).To(Succeed())
	Expect(os.WriteFile(filepath.Join(folder, "cni.yaml"), []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: cni}\n"), 0o600)).To(Succeed())
	variables := maps.Clone(flavorVariables)
	variables["NAMESPACE"] = metav1.NamespaceDefault
	for _, template := range all.Flavors {
		if template.Name != flavor {
			continue
		}
		objects, err := template.Render(ctx, metav1.NamespaceDefault, variables)
		Expect(err).NotTo(HaveOccurred())
		generated, err := utilyaml.FromUnstructured(objects)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(folder, "cluster.yaml"), generated, 0o600)).To(Succeed())
	}
	content, err := kustomize.Build(folder)
	Expect(err).NotTo(HaveOccurred())
	Expect(bytes.Contains(content, []byte("flannel"))).To(Equal(example != "network"))
	objects, err := utilyaml.ToUnstructured(content)
	Expect(err).NotTo(HaveOccurred())
	return objects
}
