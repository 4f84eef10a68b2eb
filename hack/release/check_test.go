// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/templates"
)

const (
	goodTemplate = "kind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\", namespace: \"${NAMESPACE}\"}\nspec: {size: \"${FOO_SIZE:=small}\"}\n"
	goodClass    = "kind: ClusterClass\nmetadata: {name: quick}\n"
)

//contract:clusterctl/templates
//contract:clusterctl/templates-namespace
//contract:clusterctl/templates-variables
//contract:clusterctl/classes
//contract:clusterctl/classes-names
//contract:clusterctl/classes-namespace
//contract:clusterctl/classes-variables
func TestCheck(t *testing.T) {
	for name, test := range map[string]struct{ file, content, want string }{
		"template":                         {"cluster-template.yaml", goodTemplate, ""},
		"template without a Cluster":       {"cluster-template-x.yaml", "kind: FooCluster\n", "has 0 Clusters"},
		"template with two Clusters":       {"cluster-template-x.yaml", goodTemplate + "---\n" + goodTemplate, "has 2 Clusters"},
		"template in a namespace":          {"cluster-template-x.yaml", goodTemplate + "---\nkind: FooCluster\nmetadata: {name: a, namespace: b}\n", "want ${NAMESPACE}"},
		"template with a foreign variable": {"cluster-template-x.yaml", goodTemplate + "---\nkind: Secret\nspec: \"${AWS_REGION}\"\n", "AWS_REGION"},
		"template that is not YAML":        {"cluster-template-x.yaml", "a: b: c", "cluster-template-x.yaml"},
		"class":                            {"clusterclass-quick.yaml", goodClass, ""},
		"class with another name":          {"clusterclass-slow.yaml", goodClass, "has no ClusterClass slow"},
		"class with a variable":            {"clusterclass-quick.yaml", goodClass + "spec: \"${FOO_SIZE}\"\n", "has a variable"},
		"class in a namespace":             {"clusterclass-quick.yaml", goodClass + "---\nkind: FooClusterTemplate\nmetadata: {name: a, namespace: b}\n", "want none"},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(test.file, []byte(test.content))
			if test.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

//contract:clusterctl/templates-names
//contract:clusterctl/classes-names
func TestTemplatesAndClassesAreTaken(t *testing.T) {
	g := NewWithT(t)
	files := map[string][]byte{}
	g.Expect(addTemplates(files, sources, providers[1], "here")).To(Succeed())
	g.Expect(files).To(And(
		HaveKey("here/cluster-template.yaml"), HaveKey("here/cluster-template-topology.yaml"), HaveKey("here/clusterclass-foo.yaml"),
		HaveKey("here/clusterclass-foo-extension.yaml")))
	g.Expect(addTemplates(files, t.TempDir(), providers[1], "nowhere")).To(MatchError(ContainSubstring("infrastructure provider")))
	clear(files)
	for _, other := range []provider{providers[0], providers[2]} {
		g.Expect(addTemplates(files, sources, other, "here")).To(Succeed())
	}
	g.Expect(files).To(BeEmpty(), "one provider has all of them")
}

// The metadata before the installation must match the CRDs after it.
//
//contract:clusterctl/metadata
func TestMetadataAgreesWithCRDs(t *testing.T) {
	g := NewWithT(t)
	metadata := clusterctlv1.Metadata{}
	g.Expect(yaml.UnmarshalStrict(templates.Metadata, &metadata)).To(Succeed())
	for _, provider := range providers {
		for _, object := range installed(g, provider)["CustomResourceDefinition"] {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd)).To(Succeed())
			for _, series := range metadata.ReleaseSeries {
				g.Expect(crd.Labels).To(HaveKey("cluster.x-k8s.io/"+series.Contract), crd.Name)
			}
		}
	}
}
