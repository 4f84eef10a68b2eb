// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
)

func TestPaths(t *testing.T) {
	for _, test := range []struct {
		kind            clusterctlv1.ProviderType
		dir, components string
	}{
		{clusterctlv1.CoreProviderType, "foo/v0.1.0", "foo/v0.1.0/core-components.yaml"},
		{clusterctlv1.ControlPlaneProviderType, "control-plane-foo/v0.1.0", "control-plane-foo/v0.1.0/control-plane-components.yaml"},
		{clusterctlv1.InfrastructureProviderType, "infrastructure-foo/v0.1.0", "infrastructure-foo/v0.1.0/infrastructure-components.yaml"},
		{clusterctlv1.RuntimeExtensionProviderType, "runtime-extension-foo/v0.1.0", "runtime-extension-foo/v0.1.0/runtime-extension-components.yaml"},
	} {
		g := NewWithT(t)
		provider := Provider{Name: "foo", Type: test.kind, Version: "v0.1.0"}
		g.Expect(provider.Dir()).To(Equal(test.dir))
		g.Expect(provider.ComponentsFile()).To(Equal(test.components))
		g.Expect(provider.URL("/somewhere")).To(Equal("/somewhere/" + test.components))
	}
}

func TestWrite(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	g.Expect(Files{"a/b/c.yaml": []byte("old and long"), "d.yaml": []byte("d")}.Write(root)).To(Succeed())
	g.Expect(Files{"a/b/c.yaml": []byte("new")}.Write(root)).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(root, "a", "b", "c.yaml"))).To(BeEquivalentTo("new"))
	g.Expect(os.ReadFile(filepath.Join(root, "d.yaml"))).To(BeEquivalentTo("d"))
	g.Expect(Files{"d.yaml/c.yaml": nil}.Write(root)).To(MatchError(ContainSubstring("d.yaml/c.yaml")))
}
