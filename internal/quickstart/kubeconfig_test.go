// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// administrator is the kubeconfig of a cluster as Cluster API stores it.
func administrator(t *testing.T, server string) []byte {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["demo"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: []byte("authority")}
	config.AuthInfos["demo-admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: []byte("certificate"), ClientKeyData: []byte("key")}
	config.Contexts["demo-admin@demo"] = &clientcmdapi.Context{Cluster: "demo", AuthInfo: "demo-admin"}
	config.CurrentContext = "demo-admin@demo"
	content, err := clientcmd.Write(*config)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return content
}

func TestKubeconfigIsMerged(t *testing.T) {
	g := NewWithT(t)
	home := t.TempDir()
	first, second := filepath.Join(home, "first"), filepath.Join(home, "deep", "second")
	t.Setenv("KUBECONFIG", first+":"+second)
	const own = `apiVersion: v1
kind: Config
clusters: [{name: own, cluster: {server: "https://own"}}]
contexts: [{name: own, context: {cluster: own, user: own, namespace: work}}]
users: [{name: own, user: {token: secret}}]
current-context: own
`
	g.Expect(os.WriteFile(first, []byte(own), 0o600)).To(Succeed())
	g.Expect(MergeKubeconfig(KubeconfigFiles(""), "demo", administrator(t, "https://10.77.0.3:6443"))).To(Succeed())
	g.Expect(MergeKubeconfig(KubeconfigFiles(""), "other", administrator(t, "https://10.77.0.4:6443"))).To(Succeed())
	g.Expect(MergeKubeconfig(KubeconfigFiles(""), "demo", administrator(t, "https://10.77.0.5:6443"))).To(Succeed(), "a cluster of the same name replaces it")

	merged, err := KubeconfigFiles("").GetStartingConfig()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Clusters).To(HaveLen(3))
	g.Expect(merged.CurrentContext).To(Equal("foo-demo"))
	g.Expect(merged.Contexts["foo-demo"].Cluster).To(Equal("foo-demo"))
	g.Expect(merged.Clusters["foo-demo"].Server).To(Equal("https://10.77.0.5:6443"))
	g.Expect(merged.AuthInfos["foo-other"].ClientKeyData).To(BeEquivalentTo("key"))
	g.Expect(merged.AuthInfos["own"].Token).To(Equal("secret"))
	g.Expect(merged.Contexts["own"].Namespace).To(Equal("work"))
	for _, file := range []string{first, second} {
		if info, err := os.Stat(file); err == nil {
			g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600), file)
		}
	}

	g.Expect(ForgetKubeconfig(KubeconfigFiles(""), "demo")).To(Succeed())
	g.Expect(ForgetKubeconfig(KubeconfigFiles(""), "demo")).To(Succeed(), "nothing is left to forget")
	merged, err = KubeconfigFiles("").GetStartingConfig()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Clusters).To(And(HaveLen(2), HaveKey("own"), HaveKey("foo-other")))
	g.Expect(merged.CurrentContext).To(BeEmpty())
}

func TestKubeconfigOfTheUsersChoice(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "untouched"))
	chosen := filepath.Join(t.TempDir(), "new", "config")
	g.Expect(MergeKubeconfig(KubeconfigFiles(chosen), "demo", administrator(t, "https://a"))).To(Succeed())
	g.Expect(os.Getenv("KUBECONFIG")).NotTo(BeAnExistingFile())
	info, err := os.Stat(chosen)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600))
	g.Expect(MergeKubeconfig(KubeconfigFiles(chosen), "demo", []byte("{}"))).To(MatchError(ContainSubstring("not complete")))
}
