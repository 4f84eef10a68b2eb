// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package envtestenv

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestCRDsCanBeServedWithoutWebhooks(t *testing.T) {
	g := NewWithT(t)
	found, err := findFolders(context.Background())
	g.Expect(err).NotTo(HaveOccurred())
	crds, err := loadCRDs(found.crdFolders())
	g.Expect(err).NotTo(HaveOccurred())

	byKind := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range crds {
		byKind[crd.Spec.Names.Kind] = crd
		g.Expect(crd.Spec.Conversion).To(BeNil())
	}
	for _, kind := range []string{"Cluster", "Machine", "MachinePool", "KubeadmConfig", "FooControlPlane", "FooMachinePool"} {
		g.Expect(byKind).To(HaveKey(kind))
		g.Expect(byKind[kind].Labels).To(HaveKeyWithValue("cluster.x-k8s.io/v1beta2", "v1beta2"))
	}
}

func TestKustomizationNamesEveryCRD(t *testing.T) {
	g := NewWithT(t)
	found, err := findFolders(context.Background())
	g.Expect(err).NotTo(HaveOccurred())
	for _, provider := range []string{"control-plane", "infrastructure"} {
		folder := filepath.Join(found.foo, "config", "crd", provider)
		data, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		var kustomization struct {
			Resources []string `json:"resources"`
		}
		g.Expect(yaml.Unmarshal(data, &kustomization)).To(Succeed())

		files, err := filepath.Glob(filepath.Join(folder, "bases", "*.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		for i := range files {
			files[i] = strings.TrimPrefix(files[i], folder+string(filepath.Separator))
		}
		g.Expect(kustomization.Resources).To(ConsistOf(files))
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	t.Setenv(assetsVariable, folder)
	_, err := findAssets("unused")
	g.Expect(err).To(MatchError(folder + " has no [etcd kube-apiserver]: run `make node`, or set KUBEBUILDER_ASSETS to a folder with them"))

	g.Expect(os.WriteFile(filepath.Join(folder, "etcd"), nil, 0o600)).To(Succeed())
	_, err = findAssets("unused")
	g.Expect(err).To(MatchError(ContainSubstring("has no [kube-apiserver]:")))

	g.Expect(os.WriteFile(filepath.Join(folder, "kube-apiserver"), nil, 0o600)).To(Succeed())
	g.Expect(findAssets("unused")).To(Equal(folder))
}
