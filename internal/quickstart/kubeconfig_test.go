// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/management"
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
	g.Expect(mergeKubeconfig(kubeconfigFiles("", ""), "foo-demo", DefaultStateDir, administrator(t, "https://10.77.0.3:6443"))).To(Succeed())
	g.Expect(mergeKubeconfig(kubeconfigFiles("", ""), "foo-other", DefaultStateDir, administrator(t, "https://10.77.0.4:6443"))).To(Succeed())
	g.Expect(mergeKubeconfig(kubeconfigFiles("", ""), "foo-demo", DefaultStateDir, administrator(t, "https://10.77.0.5:6443"))).To(Succeed(), "a cluster of the same name replaces it")

	merged, err := kubeconfigFiles("", "").GetStartingConfig()
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

	g.Expect(forgetKubeconfig(kubeconfigFiles("", ""), "foo-demo", DefaultStateDir)).To(Succeed())
	g.Expect(forgetKubeconfig(kubeconfigFiles("", ""), "foo-demo", DefaultStateDir)).To(Succeed(), "nothing is left to forget")
	g.Expect(forgetKubeconfig(kubeconfigFiles("", ""), "foo-other", "/srv/foo")).To(Succeed(), "it is in another folder")
	merged, err = kubeconfigFiles("", "").GetStartingConfig()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Clusters).To(And(HaveLen(2), HaveKey("own"), HaveKey("foo-other")))
	g.Expect(merged.CurrentContext).To(BeEmpty())
}

func TestKubeconfigOfTheUsersChoice(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "untouched"))
	chosen := filepath.Join(t.TempDir(), "new", "config")
	g.Expect(mergeKubeconfig(kubeconfigFiles(chosen, ""), "foo-demo", DefaultStateDir, administrator(t, "https://a"))).To(Succeed())
	g.Expect(os.Getenv("KUBECONFIG")).NotTo(BeAnExistingFile())
	info, err := os.Stat(chosen)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600))
	g.Expect(mergeKubeconfig(kubeconfigFiles(chosen, ""), "foo-demo", DefaultStateDir, []byte("{}"))).To(MatchError(ContainSubstring("not complete")))
}

// Whoever reads a kubeconfig while it is changed gets the old content or the new.
func TestKubeconfigIsReplaced(t *testing.T) {
	g := NewWithT(t)
	home := t.TempDir()
	first, link, target := filepath.Join(home, "first"), filepath.Join(home, "link"), filepath.Join(home, "target")
	t.Setenv("KUBECONFIG", first+":"+link)
	g.Expect(os.WriteFile(first, nil, 0o600)).To(Succeed())
	g.Expect(os.Symlink("target", link)).To(Succeed())
	own := administrator(t, "https://own")
	g.Expect(os.WriteFile(target, own, 0o640)).To(Succeed())
	g.Expect(os.Chmod(target, 0o640)).To(Succeed())
	before, err := os.Open(target)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = before.Close() }()

	g.Expect(mergeKubeconfig(kubeconfigFiles(link, ""), "foo-demo", DefaultStateDir, administrator(t, "https://a"))).To(Succeed())
	g.Expect(io.ReadAll(before)).To(Equal(own))
	g.Expect(os.Readlink(link)).To(Equal("target"))
	info, err := os.Stat(target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o640))

	g.Expect(mergeKubeconfig(kubeconfigFiles("", ""), "foo-demo", DefaultStateDir, administrator(t, "https://b"))).To(Succeed())
	merged, err := clientcmd.LoadFromFile(target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Clusters["foo-demo"].Server).To(Equal("https://b"), "it stays in its file")
	g.Expect(kubeconfigFiles("", "").GetStartingConfig()).To(HaveField("CurrentContext", "foo-demo"))

	g.Expect(forgetKubeconfig(kubeconfigFiles("", ""), "foo-demo", DefaultStateDir)).To(Succeed())
	g.Expect(kubeconfigFiles("", "").GetStartingConfig()).To(And(HaveField("CurrentContext", BeEmpty()), HaveField("Clusters", And(HaveLen(1), HaveKey("demo")))))
	g.Expect(os.ReadDir(home)).To(HaveLen(3), "nothing else is left")
}

// With sudo, the files belong to the user who ran it.
func TestKubeconfigOfSudoer(t *testing.T) {
	g := NewWithT(t)
	home := t.TempDir()
	t.Setenv("KUBECONFIG", "")
	const uid, gid = 4242, 4343
	t.Setenv("SUDO_UID", strconv.Itoa(uid))
	t.Setenv("SUDO_GID", strconv.Itoa(gid))
	g.Expect(os.Chmod(home, 0o755)).To(Succeed())
	files := kubeconfigFiles("", home)
	file := filepath.Join(home, ".kube", "config")
	g.Expect(mergeKubeconfig(files, "foo-demo", DefaultStateDir, administrator(t, "https://10.77.0.3:6443"))).To(Succeed())
	g.Expect(mergeKubeconfig(files, "foo-other", DefaultStateDir, administrator(t, "https://10.77.0.4:6443"))).To(Succeed())
	merged, err := clientcmd.LoadFromFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Contexts).To(And(HaveKey("foo-demo"), HaveKey("foo-other")))

	owner := func(path string) [2]int {
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		stat := info.Sys().(*syscall.Stat_t)
		return [2]int{int(stat.Uid), int(stat.Gid)}
	}
	want := [2]int{uid, gid}
	if os.Geteuid() != 0 {
		want = owner(home) // nobody else can have run sudo
	}
	g.Expect(owner(file)).To(Equal(want))
	g.Expect(owner(filepath.Dir(file))).To(Equal(want))
	g.Expect(owner(home)).To(Equal([2]int{os.Getuid(), os.Getgid()}), "it existed")

	given := filepath.Join(t.TempDir(), "given")
	t.Setenv("KUBECONFIG", given)
	g.Expect(mergeKubeconfig(kubeconfigFiles("", home), "foo-third", DefaultStateDir, administrator(t, "https://10.77.0.5:6443"))).To(Succeed())
	g.Expect(owner(given)).To(Equal(want))

	// Of several files, those that get nothing leave nothing, and an empty path means no file.
	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile(".lock", nil, 0o600)).To(Succeed(), "it locks nothing of ours")
	other, last := filepath.Join(t.TempDir(), "none", "other"), filepath.Join(t.TempDir(), "new", "last")
	t.Setenv("KUBECONFIG", other+"::"+last+":")
	g.Expect(mergeKubeconfig(kubeconfigFiles("", home), "foo-third", DefaultStateDir, administrator(t, "https://10.77.0.5:6443"))).To(Succeed())
	g.Expect([][2]int{owner(last), owner(filepath.Dir(last))}).To(HaveEach(want))
	g.Expect(filepath.Dir(other)).NotTo(BeADirectory())
	t.Setenv("KUBECONFIG", ":")
	g.Expect(mergeKubeconfig(kubeconfigFiles("", home), "foo-third", DefaultStateDir, administrator(t, "https://a"))).To(MatchError("KUBECONFIG names no file"))
}

// With sudo, the user's kubectl may read another file than the one that has the context.
func TestFileOfTheContextIsNamed(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	demo := clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: config.ClusterName}}
	clusters, kind := clusterv1.GroupVersion.String(), metav1.APIResource{Namespaced: true, Verbs: metav1.Verbs{"list"}}
	kind.Name, kind.Kind = "clusters", "Cluster"
	kinds := metav1.APIResourceList{GroupVersion: clusters, APIResources: []metav1.APIResource{kind}}
	kind.Name, kind.Kind = "secrets", "Secret"
	serve(t, config, map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{kind}},
		"/apis":             metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: clusterv1.GroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: clusters, Version: clusterv1.GroupVersion.Version}}}}},
		"/apis/" + clusters: kinds, "/apis/" + clusters + "/clusters": clusterv1.ClusterList{Items: []clusterv1.Cluster{demo}},
		"/api/v1/namespaces/default/secrets/demo-kubeconfig": corev1.Secret{Data: map[string][]byte{"value": administrator(t, "https://a")}},
	})

	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	t.Setenv("KUBECONFIG", first+":"+second)
	g.Expect(os.WriteFile(first, nil, 0o600)).To(Succeed())
	for _, where := range []string{first, second} {
		if where == second { // it stays there
			g.Expect(os.Rename(first, second)).To(Succeed())
		}
		var said bytes.Buffer
		g.Expect(AddKubeconfig(t.Context(), config, kubeconfigFiles("", ""), &said)).To(Succeed())
		g.Expect(said.String()).To(Equal("The context foo-demo is in " + where + ".\n"))
	}
}

// The next start replaces such a file, and commands would take its current context for the management cluster.
func TestKubeconfigOfFooItself(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	own, other := config.managementKubeconfig(), t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(other, marker), []byte("{}"), 0o600)).To(Succeed())
	link := filepath.Join(t.TempDir(), "config")
	g.Expect(os.Symlink(own, link)).To(Succeed())
	for _, path := range []string{own, link, filepath.Join(other, "hub.kubeconfig")} {
		t.Setenv("KUBECONFIG", path)
		refused := And(Satisfy(IsInvalid), MatchError("foo's own file "+path+" cannot be your kubeconfig; unset KUBECONFIG, or name yours with --kubeconfig"))
		g.Expect(CheckKubeconfig(config, kubeconfigFiles("", ""))).To(refused)
		g.Expect(AddKubeconfig(t.Context(), config, kubeconfigFiles("", ""), io.Discard)).To(refused)
		g.Expect(CheckKubeconfig(config, kubeconfigFiles(config.StateDir+"-mine", ""))).To(Succeed())
	}
	mine := filepath.Join(t.TempDir(), "mine")
	g.Expect(os.WriteFile(mine, nil, 0o600)).To(Succeed())
	t.Setenv("KUBECONFIG", mine+":"+own)
	g.Expect(CheckKubeconfig(config, kubeconfigFiles("", ""))).To(Succeed(), "it gets nothing")
}

// What a user has added to the management cluster's kubeconfig does not change which cluster that is.
func TestOtherContextInTheManagementKubeconfig(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	file := clientcmdapi.NewConfig()
	for _, name := range []string{management.Context, "foo-two"} {
		file.Clusters[name] = &clientcmdapi.Cluster{Server: "http://" + name}
		file.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	}
	file.CurrentContext = "foo-two"
	g.Expect(clientcmd.WriteToFile(*file, config.managementKubeconfig())).To(Succeed())
	reached, _, err := config.management()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reached.Host).To(Equal("http://foo-management"))
}

func TestContextsOfClustersWithTheSameName(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	g.Expect(config.Context()).To(Equal("foo-demo"))
	config.Namespace = "team-a"
	g.Expect(config.Context()).To(Equal("foo-demo.team-a"))
}

func TestLockedKubeconfig(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "config")
	lock := file + ".lock"
	g.Expect(os.WriteFile(lock, nil, 0o600)).To(Succeed())
	err := mergeKubeconfig(kubeconfigFiles(file, ""), "foo-demo", DefaultStateDir, administrator(t, "https://a"))
	g.Expect(err).To(MatchError(And(ContainSubstring(lock), ContainSubstring("another program is changing it: if there is none, remove that file"))))
	g.Expect(file).NotTo(BeAnExistingFile())

	// The other program adds an entry and ends.
	var other errgroup.Group
	other.Go(func() error {
		config := clientcmdapi.NewConfig()
		config.Clusters["other"] = &clientcmdapi.Cluster{Server: "https://other"}
		return errors.Join(clientcmd.WriteToFile(*config, file), os.Remove(lock))
	})
	g.Eventually(func() error {
		return mergeKubeconfig(kubeconfigFiles(file, ""), "foo-demo", DefaultStateDir, administrator(t, "https://a"))
	}).Should(Succeed())
	g.Expect(other.Wait()).To(Succeed())
	merged, err := clientcmd.LoadFromFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Clusters).To(And(HaveKey("other"), HaveKey("foo-demo")))
}

// Clusters that are created at the same time are all in the kubeconfig afterwards.
func TestKubeconfigIsMergedByOneCommandAtATime(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	file := filepath.Join(t.TempDir(), "config")
	content := administrator(t, "https://a")
	var all errgroup.Group
	const count = 20
	for number := range count {
		all.Go(func() error {
			return config.exclusively(t.Context(), io.Discard, func() error {
				return mergeKubeconfig(kubeconfigFiles(file, ""), fmt.Sprintf("foo-%d", number), DefaultStateDir, content)
			})
		})
	}
	g.Expect(all.Wait()).To(Succeed())
	merged, err := clientcmd.LoadFromFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(merged.Contexts).To(HaveLen(count))
}
