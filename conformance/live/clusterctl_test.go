//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/behaviour"
)

// The releases of the tests.
const (
	oldRelease = "v0.1.0"
	newRelease = "v0.2.0"
)

// certManager is what clusterctl needs to see of cert-manager.
const certManager = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const metadata = `apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 1, contract: v1beta2}
- {major: 0, minor: 2, contract: v1beta2}
- {major: 1, minor: 14, contract: v1beta2}
`

// site is a management cluster of a kube-apiserver alone, and a repository.
type site struct {
	client             client.Client
	folder, kubeconfig string
	clusterctl         string
	// providers are in clusterctl's configuration.
	providers string
}

func (s *site) write(g *WithT, path, content string) {
	path = filepath.Join(s.folder, path)
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
}

// releases returns what clusterctl installs of a provider.
func (s *site) releases(label string) *Releases {
	return &Releases{
		Program: s.clusterctl, Config: filepath.Join(s.folder, "clusterctl.yaml"), Kubeconfig: s.kubeconfig, Versions: map[string]string{label: newRelease},
	}
}

// configure writes clusterctl's configuration with one more provider, and the values of variables.
func (s *site) configure(g *WithT, provider, variables string) {
	const entry = "- {name: %s, type: %s, url: %s/%s/%s}\n"
	s.providers += fmt.Sprintf(entry, provider, "InfrastructureProvider", s.folder, "infrastructure-"+provider, newRelease+"/infrastructure-components.yaml")
	s.write(g, "clusterctl.yaml", fmt.Sprintf("CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\noverridesFolder: %s/none\n%s\nproviders:\n", s.folder, variables)+
		fmt.Sprintf(entry, "cluster-api", "CoreProvider", s.folder, "cluster-api", "v1.14.2/core-components.yaml")+s.providers)
}

// TestMain leaves clusterctl without a network, and without a configuration of the user.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "clusterctl-")
	err = errors.Join(err, os.Setenv("XDG_CONFIG_HOME", folder), os.Setenv("HTTPS_PROXY", "http://127.0.0.1:1"), os.Setenv("NO_PROXY", "127.0.0.1"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // it is temporary anyway
	os.Exit(code)
}

// startSite starts a management cluster in which Cluster API's core seems to be installed.
func startSite(t *testing.T) *site {
	t.Helper()
	g := NewWithT(t)
	clusterctl, err := exec.LookPath("clusterctl")
	g.Expect(err).NotTo(HaveOccurred(), "build clusterctl, and put it into the PATH")
	environment, err := behaviour.Start(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(environment.Stop()).To(Succeed()) })

	scheme, err := NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	s := &site{folder: t.TempDir(), clusterctl: clusterctl}
	s.client, err = client.New(environment.Config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	s.kubeconfig = filepath.Join(s.folder, "kubeconfig")
	g.Expect(clientcmd.WriteToFile(*kubeconfigOf(environment.Config), s.kubeconfig)).To(Succeed())
	for _, kind := range []string{"Issuer", "Certificate"} {
		singular := strings.ToLower(kind)
		words := strings.NewReplacer("PLURAL", singular+"s", "SINGULAR", singular, "KIND", kind)
		s.write(g, singular+".yaml", words.Replace(certManager))
		s.apply(t, filepath.Join(s.folder, singular+".yaml"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.play(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })

	s.write(g, "cluster-api/v1.14.2/metadata.yaml", metadata)
	s.write(g, "cluster-api/v1.14.2/core-components.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: capi-system}\n")
	s.configure(g, "none", "")
	g.Eventually(func() error {
		return s.releases("").manage(t.Context(), nil, "init", "--core=cluster-api:v1.14.2", "--bootstrap=-", "--control-plane=-")
	}, 3*time.Minute).Should(Succeed())
	return s
}

func kubeconfigOf(config *rest.Config) *clientcmdapi.Config {
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.CurrentContext = "site"
	kubeconfig.Contexts["site"] = &clientcmdapi.Context{Cluster: "site", AuthInfo: "site"}
	kubeconfig.Clusters["site"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["site"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	return kubeconfig
}

func (s *site) apply(t *testing.T, file string) {
	t.Helper()
	kubectl := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "--kubeconfig="+s.kubeconfig, "apply", "--filename="+file)
	out, err := kubectl.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(out))
}

// play does what controllers do that a kube-apiserver alone does not have: Deployments become
// available unless their image is named broken, and empty namespaces go.
func (s *site) play(ctx context.Context) {
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		deployments := &unstructured.UnstructuredList{}
		deployments.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
		namespaces := &corev1.NamespaceList{}
		if errors.Join(s.client.List(ctx, deployments), s.client.List(ctx, namespaces)) != nil {
			continue // the next time
		}
		for i := range deployments.Items {
			one := &deployments.Items[i]
			if content, err := one.MarshalJSON(); err == nil && !strings.Contains(string(content), "broken") {
				one.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
				_ = s.client.Status().Update(ctx, one) // or the next time
			}
		}
		for i := range namespaces.Items {
			if one := &namespaces.Items[i]; !one.DeletionTimestamp.IsZero() {
				one.Spec.Finalizers = nil
				_ = s.client.SubResource("finalize").Update(ctx, one) // or the next time
			}
		}
	}
}

// replace returns a change of a file, which must change something.
func replace(g *WithT, content, old, changed string) string {
	g.Expect(content).To(ContainSubstring(old))
	return strings.ReplaceAll(content, old, changed)
}

// demoRelease is what a release of a provider consists of, and the values of its variables.
type demoRelease struct{ components, template, metadata, variables string }

// releaseMutant breaks the newer release.
type releaseMutant struct {
	// rule must fail.
	rule, name string
	mutate     func(*WithT, *demoRelease)
	// want is in the finding.
	want string
	// patience bounds the wait for what never comes; zero for mutants that wait for nothing like that.
	patience time.Duration
}

// installationMutants are the mutants by the rule that must fail.
var installationMutants = []releaseMutant{
	{"", "obedient", func(*WithT, *demoRelease) {}, "", 0},
	{"clusterctl/install", "unset", func(_ *WithT, r *demoRelease) { r.variables = "" }, "DEMO_ENDPOINT", 0},
	{"clusterctl/install", "down", func(g *WithT, r *demoRelease) {
		r.components = replace(g, r.components, "demo/manager:v0.1.0", "demo/broken:v0.1.0")
	}, "deployment", 10 * time.Second},
	{"clusterctl/install", "twice", func(g *WithT, r *demoRelease) {
		_, crd, _ := strings.Cut(r.components, "---\n")
		crd, _, _ = strings.Cut(crd, "---\n")
		// Otherwise clusterctl refuses the name.
		crd = replace(g, crd, "labels: {cluster.x-k8s.io/v1beta2: v1}", "annotations: {clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check: \"\"}")
		r.components += "---\n" + replace(g, crd, "democlusters", "othercluster")
	}, "does not have the condition Established", time.Minute}, // the Deployment must come in that time
	{"clusterctl/upgrade", "forgotten", func(g *WithT, r *demoRelease) {
		r.metadata = replace(g, r.metadata, "- {major: 0, minor: 1, contract: v1beta2}\n", "")
	}, "infrastructure-forgotten does not match any release series", 0},
	{"clusterctl/uninstall", "orphan", func(_ *WithT, r *demoRelease) {
		r.components += "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: orphan}\nvalue: 1\n"
	}, "left behind: PriorityClass orphan", time.Minute},
	{"clusterctl/uninstall", "stuck", func(_ *WithT, r *demoRelease) {
		r.components += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stuck, namespace: NAME-system, finalizers: [demo.example.com/nobody]}\n"
	}, "left behind: ConfigMap stuck", time.Minute},
	{"clusterctl/generate", "typo", func(g *WithT, r *demoRelease) { r.template = replace(g, r.template, "{size:", "{sise:") }, `unknown field "spec.sise"`, 0},
	{"clusterctl/generate", "fixed", func(g *WithT, r *demoRelease) {
		r.template = replace(g, r.template, "${CLUSTER_NAME}", "mine")
	}, "no Cluster with the name conformance", 0},
	{"clusterctl/generate", "syntax", func(g *WithT, r *demoRelease) { r.template = replace(g, r.template, "${DEMO_SIZE", "${") }, "generate cluster", 0},
}

// TestReleases runs the real clusterctl in a management cluster. The tests share it, as its start takes
// more CPU time than most of them. They run one after the other: each clusterctl init creates and deletes
// the same namespace to try cert-manager, and clusterctl delete fails if it lists a kind that is being removed.
func TestReleases(t *testing.T) {
	place := startSite(t)
	for _, mutant := range installationMutants {
		t.Run(mutant.rule+" "+mutant.name, func(t *testing.T) { place.breaksItsRuleOnly(t, mutant) })
	}
	t.Run("unset variables of a flavor", place.unsetVariablesOfAFlavorAreNotRun)
}

// breaksItsRuleOnly expects that a mutant of a release fails exactly its rule.
func (s *site) breaksItsRuleOnly(t *testing.T, mutant releaseMutant) {
	t.Helper()
	g := NewWithT(t)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		g.Expect(err).NotTo(HaveOccurred())
		return string(content)
	}
	valid := demoRelease{read("components.yaml"), read("template.yaml"), metadata, "DEMO_ENDPOINT: https://192.0.2.1"}
	broken := valid
	mutant.mutate(g, &broken)
	for version, r := range map[string]demoRelease{oldRelease: valid, newRelease: broken} {
		folder := "infrastructure-" + mutant.name + "/" + version + "/"
		s.write(g, folder+"infrastructure-components.yaml", strings.ReplaceAll(r.components, "NAME", mutant.name))
		s.write(g, folder+"cluster-template.yaml", replace(g, r.template, "NAME.demo", mutant.name+".demo"))
		s.write(g, folder+"metadata.yaml", r.metadata)
	}
	s.configure(g, mutant.name, broken.variables)
	results := s.tell(t, mutant)
	if mutant.rule == "" {
		g.Expect(slices.Collect(maps.Keys(results))).To(ConsistOf("clusterctl/install", "clusterctl/generate", "clusterctl/upgrade", "clusterctl/uninstall"))
	} else {
		g.Expect(results).To(HaveKeyWithValue(mutant.rule, And(HaveField("Status", conformance.Failed),
			HaveField("Findings", HaveExactElements(HaveField("Message", ContainSubstring(mutant.want)))))))
	}
	for rule, result := range results {
		g.Expect(rule == mutant.rule || result.Status == conformance.Passed).To(BeTrue(), "%s: %+v", rule, *result)
	}
}

// tell runs the steps of a story about releases, without a cluster, until one fails.
func (s *site) tell(t *testing.T, mutant releaseMutant) map[string]*conformance.Result {
	t.Helper()
	g := NewWithT(t)
	label := "infrastructure-" + mutant.name
	c := &Checker{
		Client: s.client, Namespace: "story-" + mutant.name, Providers: []string{label}, Patience: 2 * time.Minute, Releases: s.releases(label),
	}
	if mutant.rule == "clusterctl/install" {
		c.Patience = cmp.Or(mutant.patience, c.Patience)
	}
	c.Releases.Previous = map[string]string{label: oldRelease}
	g.Expect(errors.Join(c.readRules(), c.readCRDs(t.Context()), c.checkReleases(t.Context()), c.createNamespace(t.Context()))).To(Succeed())
	told := &story{Checker: c, now: &view{}}
	if told.install(t.Context()) != nil {
		return c.results
	}
	g.Expect(c.checkReleases(t.Context())).To(MatchError(ContainSubstring("has " + label + " " + newRelease + " already")))
	c.Patience = cmp.Or(mutant.patience, c.Patience)
	g.Expect(told.generate(t.Context())).To(Succeed())
	g.Expect(told.uninstall(t.Context())).To(Succeed())
	if c.results["clusterctl/uninstall"].Status == conformance.Failed {
		return c.results
	}
	g.Expect(told.initialize(t.Context(), c.Releases.before())).To(Succeed())
	told.record("clusterctl/upgrade", "", mutant.name, told.upgradeRelease(t.Context()))
	// A provider that clusterctl cannot upgrade would also stop the upgrades of others.
	g.Expect(told.uninstall(t.Context())).To(Succeed())
	return c.results
}

// A flavor that could not be tried is no flavor that works.
func (s *site) unsetVariablesOfAFlavorAreNotRun(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	template, err := os.ReadFile("testdata/template.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	s.write(g, "infrastructure-demo/"+newRelease+"/infrastructure-components.yaml", "")
	s.write(g, "infrastructure-demo/"+newRelease+"/cluster-template.yaml", replace(g, string(template), "${DEMO_SIZE:=small}", "${DEMO_SIZE}"))
	s.write(g, "infrastructure-demo/"+newRelease+"/metadata.yaml", metadata)
	s.configure(g, "demo", "")
	c := &Checker{
		Client: s.client, Namespace: "unset",
		Releases: s.releases("infrastructure-demo"),
	}
	g.Expect(c.readRules()).To(Succeed())
	g.Expect((&story{Checker: c}).generate(t.Context())).To(Succeed())
	g.Expect(c.results["clusterctl/generate"]).To(And(HaveField("Status", conformance.NotRun), HaveField("Reason", ContainSubstring("DEMO_SIZE"))))
}
