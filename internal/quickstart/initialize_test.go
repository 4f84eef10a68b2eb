// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"
)

func TestClusterctlConfiguration(t *testing.T) {
	g := NewWithT(t)
	config := Config{BinDir: t.TempDir(), StateDir: t.TempDir(), Network: "10.77.0.0/16", Management: true}
	g.Expect(config.initialized()).To(BeFalse())
	g.Expect(config.writeClusterctlConfig()).To(MatchError(ContainSubstring("cluster-api is missing")))
	for _, folder := range []string{
		"cluster-api/v1.14.2", "cluster-api/v1.9.0", "cluster-api/more", "bootstrap-kubeadm/v1.14.2", "cert-manager/v1.11.5",
		"control-plane-foo/v0.1.0", "infrastructure-foo/v0.1.0", "runtime-extension-foo/v0.1.0",
	} {
		g.Expect(os.MkdirAll(filepath.Join(config.repositoryDir(), folder), 0o700)).To(Succeed())
	}
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
	for _, file := range []string{config.cloudToken(), config.cloudCA()} {
		g.Expect(os.WriteFile(file, []byte("secret"), 0o600)).To(Succeed())
	}
	g.Expect(config.writeClusterctlConfig()).To(Succeed())
	g.Expect(config.initialized()).To(BeFalse(), "the providers are not installed")

	info, err := os.Stat(config.unfinishedConfig())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), "it has the token")
	content, err := os.ReadFile(config.unfinishedConfig())
	g.Expect(err).NotTo(HaveOccurred())
	var written map[string]any
	g.Expect(yaml.Unmarshal(content, &written)).To(Succeed())
	g.Expect(written).To(And(
		HaveKeyWithValue("FOO_CLOUD_ENDPOINT", "https://10.77.0.1:7443"), HaveKeyWithValue("FOO_CLOUD_TOKEN_B64", "c2VjcmV0"),
		HaveKeyWithValue("cert-manager", HaveKeyWithValue("url", config.repositoryDir()+"/cert-manager/v1.11.5/cert-manager.yaml")),
		HaveKeyWithValue("providers", ContainElement(HaveKeyWithValue("url", config.repositoryDir()+"/cluster-api/v1.14.2/core-components.yaml"))),
	))
}

func TestProvidersThatAreNotInstalled(t *testing.T) {
	g := NewWithT(t)
	g.Expect(notIn(clusterctlv1.ProviderList{})).To(Equal(podProviders))
	var installed clusterctlv1.ProviderList
	for _, one := range podProviders[:3] {
		installed.Items = append(installed.Items, clusterctlv1.Provider{ProviderName: one.name, Type: string(one.kind)})
	}
	g.Expect(notIn(installed)).To(Equal(podProviders[3:]))
}

// A command whose output nobody reads would never end.
func TestALongLineEnds(t *testing.T) {
	g := NewWithT(t)
	last, err := relay(exec.Command("sh", "-c", "(echo first; head -c 1000000 /dev/zero; echo last) >&2; exit 3"), newPrinter(io.Discard))
	g.Expect(err).To(MatchError("exit status 3"))
	g.Expect(last).To(Equal("first"))
}

func TestClusterctlsAdviceIsLeftOut(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	last, err := relay(exec.Command("sh", "-c", "(echo installed; echo; echo advice) >&2; exit 3"), newPrinter(&out))
	g.Expect(err).To(MatchError("exit status 3"))
	g.Expect(last).To(Equal("installed"))
	g.Expect(out.String()).To(And(ContainSubstring("clusterctl: installed\n"), Not(ContainSubstring("advice"))))
}
