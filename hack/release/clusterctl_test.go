//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// patience is how long an API server may take to start, to stop, or to serve a new kind on a busy
// machine.
const patience = 2 * time.Minute

// clusterctl runs the real program with the configuration of a release, in a separate home folder
// and without a network.
func clusterctl(t *testing.T, output string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(sources, "bin/tools/clusterctl"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	home := t.TempDir()
	var out, problems bytes.Buffer
	command := exec.CommandContext(t.Context(), program, append(args, "--config", filepath.Join(output, configurationFile))...)
	command.Dir = home
	// Anything that uses the network fails, instead of working on some machines only.
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1",
		"FOO_CLOUD_ENDPOINT=https://cloud.example:7443", "FOO_CLOUD_TOKEN_B64=dG9rZW4=", "FOO_CLOUD_CA_B64=Y2E="}
	command.Stdout, command.Stderr = &out, &problems
	err = command.Run()
	return out.String(), problems.String(), err
}

func generateCluster(t *testing.T, output, infrastructure string) (stdout, stderr string, err error) {
	t.Helper()
	return clusterctl(t, output, "generate", "cluster", "demo", "--infrastructure", infrastructure,
		"--kubernetes-version", "v1.36.3", "--control-plane-machine-count", "1", "--worker-machine-count", "3", "--target-namespace", "default")
}

func TestClusterctlRendersTheTemplate(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())

	rendered, problems, err := generateCluster(t, output, "foo:"+version)
	g.Expect(err).NotTo(HaveOccurred(), problems)
	specs := map[string]map[string]any{}
	for _, object := range decode(g, []byte(rendered)) {
		g.Expect(object.GetNamespace()).To(Equal("default"))
		g.Expect(object.GetName()).To(HavePrefix("demo"))
		specs[object.GetKind()], _, err = unstructured.NestedMap(object.Object, "spec")
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(specs).To(And(HaveLen(9), HaveKey("Cluster"), HaveKey("FooCluster"), HaveKey("FooMachineTemplate"), HaveKey("FooMachinePool"), HaveKey("KubeadmConfig"),
		HaveKey("ConfigMap"), HaveKey("ClusterResourceSet")))
	g.Expect(specs["FooControlPlane"]).To(And(HaveKeyWithValue("replicas", BeEquivalentTo(1)), HaveKeyWithValue("version", "v1.36.3")))
	g.Expect(specs["MachinePool"]).To(HaveKeyWithValue("replicas", BeEquivalentTo(3)))
}

func TestClusterctlRefusesAnotherVersion(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())
	rendered, problems, err := generateCluster(t, output, "foo:v0.1.9")
	g.Expect(err).To(HaveOccurred())
	g.Expect(rendered).To(BeEmpty())
	g.Expect(problems).To(And(ContainSubstring("failed to read"), ContainSubstring("infrastructure-foo/v0.1.9")))
}

// startAPIServer returns a client of an API server that ends with the test, and its kubeconfig.
func startAPIServer(t *testing.T) (client.Client, string) {
	t.Helper()
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	environment := &envtest.Environment{ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience}
	config, err := environment.Start()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { NewWithT(t).Expect(environment.Stop()).To(Succeed()) })
	kube, err := client.New(config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(os.WriteFile(kubeconfig, environment.KubeConfig, 0o600)).To(Succeed())
	return kube, kubeconfig
}

// clusterctl reads the components as they are published in these commands, with their variables in
// them.
func TestClusterctlReadsComponentsWithVariables(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())
	for flag, image := range map[string]string{
		"--control-plane": managerProgram, "--infrastructure": managerProgram, "--runtime-extension": extensionProgram,
	} {
		described, problems, err := clusterctl(t, output, "generate", "provider", flag, "foo:"+version, "--describe")
		g.Expect(err).NotTo(HaveOccurred(), problems)
		g.Expect(described).To(And(ContainSubstring("FOO_MANAGER_MEMORY_LIMIT"), MatchRegexp(`Images:\s+- %s:%s`, imageRepository+image, version)))
		raw, problems, err := clusterctl(t, output, "generate", "provider", flag, "foo:"+version, "--raw")
		g.Expect(err).NotTo(HaveOccurred(), problems)
		g.Expect(raw).To(ContainSubstring("${FOO_MANAGER_MEMORY_LIMIT:=1Gi}"))
	}
}

func TestClusterctlListsImages(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())
	kube, kubeconfig := startAPIServer(t)
	// clusterctl skips the images of an installed cert-manager, which it would look up on the network.
	g.Expect(kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cert-manager"}})).To(Succeed())
	core, err := filepath.Abs(filepath.Join(sources, "bin/manifests/cluster-api"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Mkdir(filepath.Join(output, "cluster-api"), 0o700)).To(Succeed())
	g.Expect(os.Symlink(core, filepath.Join(output, "cluster-api", "v1.14.2"))).To(Succeed())
	configuration, err := os.ReadFile(filepath.Join(output, configurationFile))
	g.Expect(err).NotTo(HaveOccurred())
	configuration = fmt.Appendf(configuration, "- {name: cluster-api, type: CoreProvider, url: %q}\n",
		filepath.Join(output, "cluster-api/v1.14.2/core-components.yaml"))
	list := func(more string) []string {
		g.Expect(os.WriteFile(filepath.Join(output, configurationFile), append(slices.Clone(configuration), more...), 0o600)).To(Succeed())
		listed, problems, err := clusterctl(t, output, "init", "list-images", "--kubeconfig="+kubeconfig, "--core=cluster-api:v1.14.2", "--bootstrap=-",
			"--control-plane=foo:"+version, "--infrastructure=foo:"+version, "--runtime-extension=foo:"+version)
		g.Expect(err).NotTo(HaveOccurred(), problems)
		return strings.Fields(listed)
	}
	g.Expect(list("")).To(ConsistOf(ContainSubstring("cluster-api-controller"), imageRepository+"manager:"+version,
		imageRepository+"runtime-extension:"+version))
	const mirror = `images:
  control-plane-foo: {repository: registry.example/mirror}
  infrastructure-foo: {repository: registry.example/mirror}
  runtime-extension-foo: {repository: registry.example/mirror}
`
	g.Expect(list(mirror)).To(ConsistOf(ContainSubstring("cluster-api-controller"), "registry.example/mirror/manager:"+version,
		"registry.example/mirror/runtime-extension:"+version))
}

// Both providers are installed in one API server, with clusterctl's changes: it moves namespaces
// and replaces variables.
func TestComponentsInstall(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())
	kube, _ := startAPIServer(t)

	for _, flag := range []string{"--control-plane", "--infrastructure"} {
		components, problems, err := clusterctl(t, output, "generate", "provider", flag, "foo:"+version, "--target-namespace", "foo-elsewhere")
		g.Expect(err).NotTo(HaveOccurred(), problems)
		for _, object := range decode(g, []byte(components)) {
			if object.GroupVersionKind().Group == "cert-manager.io" {
				continue // nothing serves it here
			}
			g.Expect(client.IgnoreAlreadyExists(kube.Create(t.Context(), &object))).To(Succeed(), object.GetName())
		}
	}
	g.Eventually(func(g Gomega) {
		crds := &apiextensionsv1.CustomResourceDefinitionList{}
		g.Expect(kube.List(t.Context(), crds)).To(Succeed())
		g.Expect(crds.Items).To(HaveLen(generatedCRDs(NewWithT(t), "control-plane", "infrastructure").Len()))
		for _, crd := range crds.Items {
			g.Expect(crd.Status.Conditions).To(ContainElement(And(
				HaveField("Type", apiextensionsv1.Established), HaveField("Status", apiextensionsv1.ConditionTrue))), crd.Name)
		}
	}, patience).Should(Succeed(), "the API server serves all kinds")

	const controlPlanes, infrastructure = "controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"
	for _, test := range []struct {
		account, verb, group, resource string
		allowed                        bool
	}{
		{"foo-elsewhere:control-plane-foo-manager", "patch", controlPlanes, "foocontrolplanes", true},
		{"foo-elsewhere:control-plane-foo-manager", "create", infrastructure, "machinesofanotherprovider", true},
		{"foo-elsewhere:control-plane-foo-manager", "update", infrastructure, "foomachinepools", false},
		{"foo-elsewhere:infrastructure-foo-manager", "patch", infrastructure, "foomachinepools", true},
		{"foo-elsewhere:infrastructure-foo-manager", "patch", controlPlanes, "foocontrolplanes", false},
		{"capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager", "watch", controlPlanes, "foocontrolplanes", true},
	} {
		g.Eventually(func(g Gomega) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               "system:serviceaccount:" + test.account,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: test.verb, Group: test.group, Resource: test.resource},
			}}
			g.Expect(kube.Create(t.Context(), review)).To(Succeed())
			g.Expect(review.Status.Allowed).To(Equal(test.allowed))
		}, patience).Should(Succeed(), "%+v: the API server learns about roles by a watch", test)
	}
}
