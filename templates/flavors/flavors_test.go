// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package flavors_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// mandatory lists the variables that clusterctl sets itself; a flavor may require more.
var mandatory = map[string]string{
	"CLUSTER_NAME": "demo", "NAMESPACE": "default", "KUBERNETES_VERSION": "v1.36.3",
	"CONTROL_PLANE_MACHINE_COUNT": "1", "WORKER_MACHINE_COUNT": "3",
}

// own lists the additional mandatory variables of individual flavors.
var own = map[string]map[string]string{
	"external-etcd": {"FOO_ETCD_ENDPOINTS": "[https://192.0.2.1:2379]"}, "kubernetes": {"FOO_CLUSTER_IDENTITY": "outer"},
}

func build(t *testing.T) flavors.All {
	t.Helper()
	all, err := flavors.Build()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return all
}

func variablesOf(template flavors.Template) map[string]string {
	variables := map[string]string{}
	for _, more := range []map[string]string{mandatory, own[template.Name]} {
		for name, value := range more {
			variables[name] = value
		}
	}
	return variables
}

func TestAllThatIsPromisedIsThere(t *testing.T) {
	g := NewWithT(t)
	var files []string
	for _, template := range build(t).Files() {
		files = append(files, template.File)
		g.Expect(string(template.Content)).To(HavePrefix("# "), "it has a comment")
	}
	g.Expect(files).To(Equal([]string{
		"cluster-template.yaml", "cluster-template-external-etcd.yaml", "cluster-template-fast.yaml", "cluster-template-ha.yaml",
		"cluster-template-kcp.yaml", "cluster-template-kubernetes.yaml", "cluster-template-machine-deployment.yaml",
		"cluster-template-topology.yaml", "cluster-template-topology-extension.yaml", "cluster-template-v1beta1.yaml",
		"clusterclass-foo.yaml", "clusterclass-foo-extension.yaml",
	}))
}

func TestTemplatesAreTheSameEachTime(t *testing.T) {
	NewWithT(t).Expect(build(t)).To(Equal(build(t)))
}

func TestMandatoryVariablesAreEnough(t *testing.T) {
	for _, template := range build(t).Files() {
		t.Run(template.File, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := template.Render(t.Context(), "default", variablesOf(template))
			g.Expect(err).NotTo(HaveOccurred())
			seen := sets.New[string]()
			for _, object := range objects {
				g.Expect(object.GetNamespace()).To(Equal("default"))
				identity := object.GetKind() + "/" + object.GetName()
				g.Expect(seen.Has(identity)).To(BeFalse(), "%s occurs twice", identity)
				seen.Insert(identity)
				g.Expect(strings.Contains(identity, "$")).To(BeFalse(), identity)
			}
			g.Expect(seen).NotTo(BeEmpty())
		})
	}
}

func TestAMissingVariableIsNamed(t *testing.T) {
	for _, template := range build(t).Flavors {
		asked, err := yamlprocessor.NewSimpleProcessor().GetVariableMap(template.Content)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		for name, fallback := range asked {
			if fallback != nil {
				continue
			}
			t.Run(template.File+" "+name, func(t *testing.T) {
				variables := variablesOf(template)
				delete(variables, name)
				_, err := template.Render(t.Context(), "default", variables)
				NewWithT(t).Expect(err).To(MatchError(ContainSubstring("value for variables [" + name + "] is not set")))
			})
		}
	}
}

// A Cluster may have any version that the cloud has an image for.
func TestClassesDoNotPinVersions(t *testing.T) {
	for _, class := range build(t).Classes {
		g := NewWithT(t)
		_, pinned, err := unstructured.NestedFieldNoCopy(only(g, class, "ClusterClass").Object, "spec", "kubernetesVersions")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pinned).To(BeFalse(), class.File)
	}
}

// A class with another name has templates with other names, so that both can be in one namespace.
func TestClassesReferToTheirOwnTemplates(t *testing.T) {
	taken := sets.New[string]()
	for _, template := range build(t).Classes {
		t.Run(template.File, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := template.Render(t.Context(), "default", nil)
			g.Expect(err).NotTo(HaveOccurred())
			there, referred := sets.New[string](), sets.New[string]()
			for _, object := range objects {
				identity := object.GetKind() + "/" + object.GetName()
				g.Expect(taken.Has(identity)).To(BeFalse(), "%s belongs to another class", identity)
				taken.Insert(identity)
				switch object.GetKind() {
				case "ClusterClass":
					referred = references(object.Object)
				case "Addon":
				default:
					there.Insert(identity)
				}
			}
			g.Expect(sets.List(referred)).To(Equal(sets.List(there)))
		})
	}
}

// A cluster has the same network whether it comes from a flavor or from the add-on of the
// extension's class.
func TestTheAddonIsTheNetworkOfTheFlavors(t *testing.T) {
	g := NewWithT(t)
	all := build(t)
	rendered := func(template flavors.Template, kind string) unstructured.Unstructured {
		objects, err := template.Render(t.Context(), "default", variablesOf(template))
		g.Expect(err).NotTo(HaveOccurred())
		objects = slices.DeleteFunc(objects, func(object unstructured.Unstructured) bool { return object.GetKind() != kind })
		g.Expect(objects).To(HaveLen(1), "%s: %s", template.File, kind)
		return objects[0]
	}
	network, _, err := unstructured.NestedStringMap(rendered(all.Flavors[0], "ConfigMap").Object, "data")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(network).To(HaveLen(2))
	var addon extensionv1.Addon
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(rendered(all.Classes[1], "Addon").Object, &addon)).To(Succeed())
	text := strings.Replace(addon.Spec.Variants[0].Template, "{{ index .Cluster.spec.clusterNetwork.pods.cidrBlocks 0 }}", "10.244.0.0/16", 1)
	g.Expect(text).To(Equal(network["flannel.yaml"] + "\n---\n" + network["network.yaml"]))
}

// references returns the kind and name of each template reference below a value.
func references(value any) sets.Set[string] {
	found := sets.New[string]()
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = found.Union(references(item))
		}
	case map[string]any:
		for field, item := range value {
			if reference, ok := item.(map[string]any); ok && field == "templateRef" {
				found.Insert(fmt.Sprintf("%s/%s", reference["kind"], reference["name"]))
			}
			found = found.Union(references(item))
		}
	}
	return found
}

// A cluster that moves from one flavor to another has the same machines.
func TestAllFlavorsHaveTheSameConfiguration(t *testing.T) {
	g := NewWithT(t)
	all := build(t)
	config := func(template flavors.Template, kind string, path ...string) map[string]any {
		found, ok, err := unstructured.NestedMap(only(g, template, kind).Object, path...)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ok).To(BeTrue(), "%s: %s has no %v", template.File, kind, path)
		return found
	}
	want := config(all.Flavors[0], "FooControlPlane", "spec", "kubeadmConfigSpec")
	g.Expect(config(all.Classes[0], "FooControlPlaneTemplate", "spec", "template", "spec", "kubeadmConfigSpec")).To(Equal(want))
	g.Expect(config(named(g, all, "kcp"), "KubeadmControlPlane", "spec", "kubeadmConfigSpec")).To(Equal(want))
	workers := config(all.Flavors[0], "KubeadmConfig", "spec")
	g.Expect(config(all.Classes[0], "KubeadmConfigTemplate", "spec", "template", "spec")).To(Equal(workers))
	g.Expect(config(named(g, all, "machine-deployment"), "KubeadmConfigTemplate", "spec", "template", "spec")).To(Equal(workers))
}

func named(g *WithT, all flavors.All, name string) flavors.Template {
	index := slices.IndexFunc(all.Flavors, func(one flavors.Template) bool { return one.Name == name })
	g.Expect(index).To(BeNumerically(">=", 0), name)
	return all.Flavors[index]
}

// only returns the only object of a kind in a template whose variables are not replaced.
func only(g *WithT, template flavors.Template, kind string) *unstructured.Unstructured {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(template.Content), 4096)
	var found []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			g.Expect(found).To(HaveLen(1), "%s: %s", template.File, kind)
			return found[0]
		}
		g.Expect(err).NotTo(HaveOccurred())
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
}
