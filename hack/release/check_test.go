// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// variablePrefix is the prefix of all variables except those that every provider shares, so that no
// other provider uses them.
const variablePrefix = "FOO_"

// Templates have one Cluster, and all objects in the namespace that the user chooses.
func TestTemplates(t *testing.T) {
	all, err := flavors.Build()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, template := range all.Flavors {
		t.Run(template.File, func(t *testing.T) {
			g := NewWithT(t)
			variables, err := yamlprocessor.NewSimpleProcessor().GetVariables(template.Content)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(variables).To(HaveEach(Or(HavePrefix(variablePrefix), BeElementOf(
				"NAMESPACE", "CLUSTER_NAME", "KUBERNETES_VERSION", "CONTROL_PLANE_MACHINE_COUNT", "WORKER_MACHINE_COUNT"))))
			clusters := 0
			for _, object := range decode(g, template.Content) {
				g.Expect(object.GetNamespace()).To(Equal("${NAMESPACE}"), object.GetKind())
				if object.GetKind() == "Cluster" {
					clusters++
				}
			}
			g.Expect(clusters).To(Equal(1))
		})
	}
}

// Files of ClusterClasses have a ClusterClass with their name, and nothing that depends on where it
// is installed: clusterctl installs them unchanged.
func TestClasses(t *testing.T) {
	all, err := flavors.Build()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, class := range all.Classes {
		t.Run(class.File, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(string(class.Content)).NotTo(ContainSubstring("${"))
			var names []string
			for _, object := range decode(g, class.Content) {
				g.Expect(object.GetNamespace()).To(BeEmpty(), object.GetKind())
				if object.GetKind() == "ClusterClass" {
					names = append(names, "clusterclass-"+object.GetName()+".yaml")
				}
			}
			g.Expect(names).To(ConsistOf(class.File))
		})
	}
}

// clusterctl looks for them in the infrastructure provider only.
func TestOneProviderPublishesTemplates(t *testing.T) {
	g := NewWithT(t)
	files, err := build(sources, version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(And(
		HaveKey("infrastructure-foo/v0.1.0/cluster-template.yaml"), HaveKey("infrastructure-foo/v0.1.0/cluster-template-topology.yaml"),
		HaveKey("infrastructure-foo/v0.1.0/clusterclass-foo.yaml"), HaveKey("infrastructure-foo/v0.1.0/clusterclass-foo-extension.yaml")))
	for file := range files {
		if strings.HasPrefix(filepath.Base(file), "cluster") {
			g.Expect(file).To(HavePrefix("infrastructure-foo/"))
		}
	}
}

// The metadata before the installation must match the CRDs after it.
func TestMetadataAgreesWithCRDs(t *testing.T) {
	g := NewWithT(t)
	metadata := readMetadata(g)
	for _, provider := range providers {
		for _, object := range installed(g, provider)["CustomResourceDefinition"] {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd)).To(Succeed())
			if crd.Spec.Group == "foo.cluster.x-k8s.io" {
				continue // it belongs to no contract
			}
			for _, series := range metadata.ReleaseSeries {
				g.Expect(crd.Labels).To(HaveKey("cluster.x-k8s.io/"+series.Contract), crd.Name)
			}
		}
	}
}

func readMetadata(g *WithT) clusterctlv1.Metadata {
	content, err := os.ReadFile(filepath.Join(sources, "metadata.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	metadata := clusterctlv1.Metadata{}
	g.Expect(yaml.UnmarshalStrict(content, &metadata)).To(Succeed())
	return metadata
}

// Cluster API's create-local-repository.py builds a provider from these settings.
func TestLocalRepository(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile(filepath.Join(sources, "clusterctl-settings.json"))
	g.Expect(err).NotTo(HaveOccurred())
	settings := struct {
		Name   string
		Config struct{ ComponentsFile, ConfigFolder, NextVersion string }
	}{}
	g.Expect(json.Unmarshal(content, &settings)).To(Succeed())
	next := providers[1].at(settings.Config.NextVersion)
	g.Expect(next.Dir()).To(Equal(settings.Name + "/" + settings.Config.NextVersion))
	g.Expect(next.ComponentsFile()).To(Equal(next.Dir() + "/" + settings.Config.ComponentsFile))
	_, err = build(sources, settings.Config.NextVersion)
	g.Expect(err).NotTo(HaveOccurred())
	metadata := readMetadata(g)
	version, err := utilversion.ParseSemantic(settings.Config.NextVersion)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(metadata.GetReleaseSeriesForVersion(version)).To(
		Equal(metadata.GetReleaseSeriesForContract(clusterv1.GroupVersion.Version)), "the version must be in the newest release series")
	components, err := kustomize.Build(filepath.Join(sources, settings.Config.ConfigFolder))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(components)).To(ContainSubstring("--providers=control-plane,infrastructure"))
}

// decode returns the objects of a file.
func decode(g *WithT, content []byte) []unstructured.Unstructured {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var objects []unstructured.Unstructured
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		g.Expect(err).NotTo(HaveOccurred())
		object := map[string]any{}
		g.Expect(utilyaml.Unmarshal(document, &object)).To(Succeed())
		if len(object) > 0 {
			objects = append(objects, unstructured.Unstructured{Object: object})
		}
	}
}
