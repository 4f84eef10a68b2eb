// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
)

func TestOCILayout(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	blob := func(content string) string {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		path := filepath.Join(dir, "blobs/sha256", sum)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		return "sha256:" + sum
	}
	var layers []string
	files, err := filepath.Glob(filepath.Join(base, release, "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		content, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		layers = append(layers, fmt.Sprintf(`{"digest":%q,"annotations":{"org.opencontainers.image.title":%q}}`, blob(string(content)), filepath.Base(file)))
	}
	manifest := blob(fmt.Sprintf(`{"layers":[%s]}`, strings.Join(layers, ",")))
	g.Expect(os.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o600)).To(Succeed())
	again := blob(fmt.Sprintf(`{"layers":[%s],"annotations":{}}`, strings.Join(layers, ",")))
	signature := blob(`{"layers":[]}`)
	// Two tags of one artifact, the same files in another one, and a signature.
	g.Expect(os.WriteFile(filepath.Join(dir, "index.json"), fmt.Appendf(nil, `{"manifests":[{"digest":%q},{"digest":%[1]q},{"digest":%q},{"digest":%q}]}`, manifest, again, signature), 0o600)).To(Succeed())
	releases, err := lint.Load(nil, dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(releases).To(HaveLen(2))

	for _, result := range check(t, g, dir) {
		g.Expect(result.Findings).To(BeEmpty(), result.Rule)
		if strings.HasPrefix(result.Rule, "infrastructure-") {
			g.Expect(result.Status).To(Equal(conformance.Passed), result.Rule)
		}
	}
}

func TestLoadFollowsALinkToAFolder(t *testing.T) {
	g := NewWithT(t)
	target, err := filepath.Abs(base)
	g.Expect(err).NotTo(HaveOccurred())
	link := filepath.Join(t.TempDir(), "out")
	g.Expect(os.Symlink(target, link)).To(Succeed())
	releases, err := lint.Load(nil, link)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(releases).To(HaveExactElements(HaveField("Dir", filepath.Join(link, release))), "files are named as the user named the folder")
}

func TestACloneIsNoRepository(t *testing.T) {
	for folder, repository := range map[string]bool{"cluster-api-provider-demo/config": false, "cluster-api/config": true, "infrastructure-demo/config": true, "demo/v0.1.0": true} {
		t.Run(folder, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(base, release)))).To(Succeed())
			releases, err := lint.Load(nil, dir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(releases).To(HaveExactElements(HaveField("Repository", repository)))
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"an empty folder":       {nil, "has no manifests of a provider"},
		"kustomizations":        {map[string]string{"kustomization.yaml": "resources: []"}, "build them first: kustomize build FOLDER"},
		"an OCI layout of none": {map[string]string{"oci-layout": "{}", "index.json": "{}"}, "no layer has the title of a manifest"},
		"a broken OCI layout":   {map[string]string{"oci-layout": "{}", "index.json": "["}, "OCI layout"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			for file, content := range test.files {
				g.Expect(os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600)).To(Succeed())
			}
			_, err := lint.Load(nil, dir)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

// endless never ends, like a device.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestLoadRefusesWhatIsTooLarge(t *testing.T) {
	g := NewWithT(t)
	_, err := lint.Load(endless{}, "-")
	g.Expect(err).To(MatchError("read the standard input: it is larger than 64 MiB, too large for a manifest"))
	path := filepath.Join(t.TempDir(), "large.yaml")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(path, 1<<40)).To(Succeed())
	_, err = lint.Load(nil, path)
	g.Expect(err).To(MatchError("read " + path + ": it is larger than 64 MiB, too large for a manifest"))
}

func TestLoadOfWrongFiles(t *testing.T) {
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: demos}\n"
	for name, test := range map[string]struct {
		content string
		refused string // by Load
		finding string // of clusterctl/yaml
	}{
		"empty":               {content: "", refused: "has no manifests of a provider"},
		"separators":          {content: "---\n---\n", refused: "has no manifests of a provider"},
		"another object":      {content: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", refused: "has no manifests of a provider"},
		"text":                {content: "hello", finding: "a document is a text, want an object"},
		"a number":            {content: "5", finding: "a document is a single value, want an object"},
		"a list":              {content: "- a\n- b\n", finding: "a document is a list, want an object"},
		"binary":              {content: "\x00\x01\xff", finding: "control characters are not allowed"},
		"a Helm template":     {content: crd + "---\n{{ .Values.x }}\n", finding: "invalid map key"},
		"broken in between":   {content: crd + "---\nfoo: [\n---\n" + crd, finding: "did not find expected node content"},
		"nested too deeply":   {content: "a: " + strings.Repeat("[", 20000), finding: "exceeded max depth"},
		"broken variables":    {content: crd + "---\na: ${\n", finding: ""},
		"an item of no kind":  {content: "apiVersion: v1\nkind: List\nitems: [5]\n", finding: "items[0] of a List is no object"},
		"a wrong type":        {content: crd + "spec: {versions: 5}\n", finding: "the field spec.versions is a number, want []v1.CustomResourceDefinitionVersion"},
		"a number as a label": {content: strings.Replace(crd, "demos", "demos, labels: {a: 1}", 1), finding: "the field metadata.labels is a number, want string"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "any.yaml")
			g.Expect(os.WriteFile(path, []byte(test.content), 0o600)).To(Succeed())
			releases, err := lint.Load(nil, path)
			if test.refused != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.refused)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			results, err := (&lint.Linter{Releases: releases}).Check(t.Context(), nil)
			g.Expect(err).NotTo(HaveOccurred())
			rule := "clusterctl/yaml"
			if test.finding == "" {
				rule = "clusterctl/variables-syntax"
			}
			g.Expect(results).To(ContainElement(And(HaveField("Rule", rule), HaveField("Findings", ContainElement(HaveField("Message", ContainSubstring(test.finding)))))))
		})
	}
}

func TestListsAreUnpacked(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile(filepath.Join(base, release, components))
	g.Expect(err).NotTo(HaveOccurred())
	for kind, header := range map[string]string{"List": "v1", "CustomResourceDefinitionList": "apiextensions.k8s.io/v1"} {
		list := fmt.Sprintf("apiVersion: %s\nkind: %s\nitems:\n", header, kind)
		for _, document := range strings.Split(string(content), "---\n") {
			if strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
				list += "- " + strings.ReplaceAll(strings.TrimSpace(document), "\n", "\n  ") + "\n"
			}
		}
		releases, err := lint.Load(strings.NewReader(list), "-")
		g.Expect(err).NotTo(HaveOccurred())
		results, err := (&lint.Linter{Releases: releases}).Check(t.Context(), nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(results).To(ContainElement(And(HaveField("Rule", "infrastructure-machine/template"), HaveField("Status", conformance.Passed))), kind)
	}
}

func TestCheckRefusesAVersionThatNoLabelNames(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile(filepath.Join(base, release, components))
	g.Expect(err).NotTo(HaveOccurred())
	releases, err := lint.Load(strings.NewReader(strings.ReplaceAll(string(content), "cluster.x-k8s.io/v1beta2: v1beta2", "a: b")), "-")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = (&lint.Linter{Releases: releases}).Check(t.Context(), []string{"v1beta2"})
	g.Expect(err).To(MatchError(ContainSubstring("no CRD has the label cluster.x-k8s.io/v1beta2, so nothing of this version can be checked; the CRDs have labels of v1beta1")))
}

func TestFindingsHaveTheLineOfTheObject(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
	mutant{Object: "Certificate demo-webhook", Replace: map[string]string{"name: demo-selfsigned": "name: other"}}.apply(g, filepath.Join(dir, release))
	text, err := os.ReadFile(filepath.Join(dir, release, components))
	g.Expect(err).NotTo(HaveOccurred())
	before, _, found := strings.Cut(string(text), "apiVersion: cert-manager.io/v1\nkind: Certificate")
	g.Expect(found).To(BeTrue())
	for _, result := range check(t, g, dir) {
		if result.Rule == "clusterctl/certificate-issuer" {
			g.Expect(result.Findings).To(HaveExactElements(HaveField("Line", strings.Count(before, "\n")+1)))
		}
	}
}

// TestBugsOfTheField has mistakes that providers have made, as their users reported them.
func TestBugsOfTheField(t *testing.T) {
	const status = "/spec/versions/v1beta2/schema/openAPIV3Schema/properties/status/properties"
	domains := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "object", "properties": map[string]any{"controlPlane": map[string]any{"type": "boolean"}}}}
	for name, test := range map[string]struct {
		change mutant
		want   string
	}{
		"the label of v1beta2 with the failure domains of v1beta1 (beskar7#160)": {
			mutant{Object: "CustomResourceDefinition DemoCluster", Set: map[string]any{status + "/failureDomains": domains}},
			"infrastructure-cluster/failure-domains",
		},
		"the fields of v1beta2 with the label of v1beta1 (cluster-api-provider-maas#387)": {
			mutant{Object: "CustomResourceDefinition DemoCluster", Set: map[string]any{"/metadata/labels/cluster.x-k8s.io~1v1beta1": "v1beta2", "/metadata/labels/cluster.x-k8s.io~1v1beta2": nil}},
			"infrastructure-cluster/initialization",
		},
		"metadata for v1beta2 and no label (CAPK#390)": {
			mutant{Object: "CustomResourceDefinition DemoMachine", Set: map[string]any{"/metadata/labels/cluster.x-k8s.io~1v1beta2": nil}},
			"infrastructure-machine/contract-metadata",
		},
		"the label of v1beta2 alone, on a version made for v1beta1 (CAPK#391)": {
			mutant{Object: "CustomResourceDefinition DemoMachine", Set: map[string]any{"/metadata/labels/cluster.x-k8s.io~1v1beta2": "v1beta1"}},
			"infrastructure-machine/initialization",
		},
		"a label that flips without metadata (CAPG#1709, CAPA#6112)": {
			mutant{File: "metadata.yaml", Replace: map[string]string{"contract: v1beta2": "contract: v1beta1"}, Also: []mutant{
				{Object: "CustomResourceDefinition DemoCluster", Set: map[string]any{"/metadata/labels/cluster.x-k8s.io~1v1beta1": nil}},
			}},
			"infrastructure-cluster/contract-metadata",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
			test.change.apply(g, filepath.Join(dir, release))
			var broken []string
			for _, result := range check(t, g, dir) {
				if result.Status == conformance.Failed {
					broken = append(broken, result.Rule)
				}
			}
			g.Expect(broken).To(ContainElement(test.want))
		})
	}
}

// clusterctl reads templates only of infrastructure providers, so Clusters beside the components of
// another provider are examples.
func TestExamplesAreNoTemplates(t *testing.T) {
	for name, test := range map[string]struct {
		components, label string
		templates         int
	}{
		"infrastructure":              {"infrastructure-components.yaml", "", 2},
		"a runtime extension":         {"runtime-extension-components.yaml", "", 1},
		"any":                         {"components.yaml", "", 2},
		"infrastructure by its label": {"demo-components.yaml", "infrastructure-demo", 2},
		"another by its label":        {"demo-components.yaml", "bootstrap-demo", 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			for name, content := range map[string]string{
				test.components:         "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: demo, namespace: demo-system, labels: {cluster.x-k8s.io/provider: \"" + test.label + "\"}}\n",
				"aws.yaml":              "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: demo}\n",
				"cluster-template.yaml": "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: demo}\n",
			} {
				g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)).To(Succeed())
			}
			releases, err := lint.Load(nil, dir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(releases).To(HaveLen(1))
			found := 0
			for _, file := range releases[0].Files {
				if file.Type == lint.Template {
					found++
				}
			}
			g.Expect(found).To(Equal(test.templates))
		})
	}
}

func TestImplementationNamesAllReleases(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	for _, folder := range []string{release, "infrastructure-demo/v0.2.0", "bootstrap-demo/v0.2.0"} {
		g.Expect(os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(base, release)))).To(Succeed())
	}
	releases, err := lint.Load(nil, dir)
	g.Expect(err).NotTo(HaveOccurred())
	name, version := lint.Implementation(releases)
	g.Expect(name).To(Equal("infrastructure-demo"))
	g.Expect(version).To(Equal("v0.2.0, v0.1.0"))
}

// A clone has Clusters in folders of their own. Only what is named as clusterctl wants it is a template.
func TestSamplesOfACloneAreNoTemplates(t *testing.T) {
	const cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: demo}\n"
	g := NewWithT(t)
	dir := t.TempDir()
	for _, path := range []string{"config/samples/cluster.yaml", "templates/cluster-template.yaml", "templates/broken.yaml"} {
		g.Expect(os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, path), []byte(cluster), 0o600)).To(Succeed())
	}
	g.Expect(os.CopyFS(filepath.Join(dir, "config/default"), os.DirFS(filepath.Join(base, release)))).To(Succeed())
	releases, err := lint.Load(nil, dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(releases).To(HaveExactElements(HaveField("Dir", filepath.Join(dir, "config/default")), HaveField("Dir", filepath.Join(dir, "templates"))))
	g.Expect(releases[1].Files).To(HaveExactElements(HaveField("Path", filepath.Join(dir, "templates/cluster-template.yaml"))))

	_, err = lint.Load(nil, filepath.Join(dir, "config/samples"))
	g.Expect(err).To(MatchError(ContainSubstring("has no manifests of a provider")))
	releases, err = lint.Load(nil, filepath.Join(dir, "config/samples/cluster.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(releases[0].Files).To(HaveExactElements(HaveField("Type", lint.Template)), "the user named the file")
}

// What a user adds to a cluster is no provider, and the Cluster beside it no template.
func TestClusterBesideAnAddOnIsNoTemplate(t *testing.T) {
	const addOn = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: cni, namespace: kube-system}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: cni, namespace: kube-system}\n"
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: demos}\nspec: {group: GROUP}\n"
	const labelled = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: demo, labels: {cluster.x-k8s.io/provider: infrastructure-demo}}\n"
	for name, test := range map[string]struct {
		file, content string
		template      bool
	}{
		"an add-on":                 {"cni.yaml", addOn, false},
		"named as components":       {"components.yaml", addOn, true},
		"an add-on with kinds":      {"cni.yaml", addOn + "---\n" + strings.ReplaceAll(crd, "GROUP", "cni.example.com"), false},
		"kinds":                     {"crds.yaml", strings.ReplaceAll(crd, "GROUP", "infrastructure.demo.example.com"), true},
		"the label of the provider": {"demo.yaml", labelled, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			for path, content := range map[string]string{test.file: test.content, "cluster.yaml": "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: demo}\n"} {
				g.Expect(os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600)).To(Succeed())
			}
			releases, err := lint.Load(nil, dir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(releases).To(HaveLen(1))
			g.Expect(slices.ContainsFunc(releases[0].Files, func(f *lint.File) bool { return f.Type == lint.Template })).To(Equal(test.template))
		})
	}
}

// A release whose folder is named as in a repository keeps a template with a wrong name, to say so.
func TestWronglyNamedTemplatesOfARepository(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	path := filepath.Join(dir, release, "demo.yaml")
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: demo}\n"), 0o600)).To(Succeed())
	g.Expect(outcomes(check(t, g, dir))).To(HaveKeyWithValue("clusterctl/template-name", conformance.Failed))
}

// A pool creates these machines, and Cluster API a Machine for each: they need no template, and have an ID from
// the start.
func TestMachinesOfAPool(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(base, release, components))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	documents := strings.Split(string(data), "---\n")
	index := slices.IndexFunc(documents, mutant{Object: "CustomResourceDefinition DemoMachine"}.selects)
	of := strings.NewReplacer("DemoMachine", "DemoMachinePoolMachine", "demomachine", "demomachinepoolmachine").Replace(documents[index])
	role := "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: pool, labels: {cluster.x-k8s.io/aggregate-to-manager: \"true\", cluster.x-k8s.io/provider: infrastructure-demo}}\n" +
		"rules: [{apiGroups: [infrastructure.demo.example.com], resources: [demomachinepoolmachines], verbs: [delete, get, list, patch, update, watch]}]\n"
	for name, test := range map[string]struct {
		change mutant
		broken []string
	}{
		"as the pool needs it": {mutant{Set: map[string]any{"/spec/versions/v1beta2/schema/openAPIV3Schema/properties/spec/required": []any{"providerID"}}}, nil},
		"without a label":      {mutant{Set: map[string]any{"/metadata/labels": map[string]any{"cluster.x-k8s.io/provider": "infrastructure-demo"}}}, []string{"infrastructure-machine/contract-label"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
			content := string(data) + "---\n" + test.change.set(g, of) + role
			g.Expect(os.WriteFile(filepath.Join(dir, release, components), []byte(content), 0o600)).To(Succeed())
			var broken []string
			for _, result := range check(t, g, dir) {
				if len(result.Findings) > 0 {
					broken = append(broken, result.Rule)
				}
			}
			g.Expect(broken).To(Equal(test.broken))
		})
	}
}

// Cluster API sorts the versions that a label names.
func TestTheOrderOfVersionsInALabelDoesNotMatter(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
	mutant{Object: "CustomResourceDefinition DemoMachine", Set: map[string]any{"/metadata/labels/cluster.x-k8s.io~1v1beta2": "v1beta2_v1beta1"}}.apply(g, filepath.Join(dir, release))
	for _, result := range check(t, g, dir) {
		g.Expect(result.Findings).To(BeEmpty(), result.Rule)
	}
}

func TestLoadCluster(t *testing.T) {
	g := NewWithT(t)
	releases, err := lint.Load(nil, filepath.Join(base, release, components))
	g.Expect(err).NotTo(HaveOccurred())
	var objects []runtime.Object
	for _, object := range releases[0].Files[0].Objects {
		objects = append(objects, object.Unstructured)
	}
	lists := map[schema.GroupVersionResource]string{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}:               "CustomResourceDefinitionList",
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}: "ValidatingWebhookConfigurationList",
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}:   "MutatingWebhookConfigurationList",
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}:                       "ClusterRoleList",
		{Version: "v1", Resource: "services"}:                                                               "ServiceList",
		{Group: "apps", Version: "v1", Resource: "deployments"}:                                             "DeploymentList",
		{Group: "runtime.cluster.x-k8s.io", Version: "v1beta2", Resource: "extensionconfigs"}:               "ExtensionConfigList",
	}
	empty := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	_, err = lint.LoadCluster(t.Context(), empty)
	g.Expect(err).To(MatchError(ContainSubstring("no objects with the label cluster.x-k8s.io/provider")))

	full := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)
	releases, err = lint.LoadCluster(t.Context(), full)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(releases).To(HaveExactElements(HaveField("Dir", "infrastructure-demo")))
	results, err := (&lint.Linter{Releases: releases}).Check(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	for _, result := range results {
		g.Expect(result.Findings).To(BeEmpty(), result.Rule)
		if slices.Contains([]string{"runtime-extension/failure-policy", "runtime-extension/in-place-handlers"}, result.Rule) {
			g.Expect(result.Status).To(Equal(conformance.Passed), "only a cluster has handlers")
		}
	}
	g.Expect(outcomes(results)).To(And(
		HaveKeyWithValue("clusterctl/service-account", conformance.NotApplicable),
		HaveKeyWithValue("clusterctl/certificate-mount", conformance.NotApplicable),
		HaveKeyWithValue("clusterctl/yaml", conformance.NotApplicable),
		HaveKeyWithValue("clusterctl/variables-syntax", conformance.NotApplicable),
		HaveKeyWithValue("clusterctl/duplicates", conformance.NotApplicable),
		HaveKeyWithValue("infrastructure-machine/contract-metadata", conformance.NotApplicable),
		HaveKeyWithValue("clusterctl/webhook-service", conformance.Passed),
	))
}

// outcomes returns the statuses by rule.
func outcomes(results []conformance.Result) map[string]conformance.Status {
	statuses := map[string]conformance.Status{}
	for _, result := range results {
		statuses[result.Rule] = result.Status
	}
	return statuses
}

// What a rule compares with may be elsewhere. Then nothing says that it was met.
func TestARuleThatCannotBeCheckedDoesNotPass(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(base, release, components))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, test := range map[string]struct {
		keep func(document string) bool
		want map[string]conformance.Status
	}{
		"components without metadata": {
			func(string) bool { return true },
			map[string]conformance.Status{
				"control-plane/contract-metadata": conformance.NotApplicable, "bootstrap/contract-metadata": conformance.NotApplicable,
				"control-plane/contract-versions": conformance.Passed, "clusterctl/conversion-webhook": conformance.Passed,
			},
		},
		"CRDs alone": {
			func(document string) bool { return strings.Contains(document, "kind: CustomResourceDefinition\n") },
			map[string]conformance.Status{"clusterctl/conversion-webhook": conformance.NotApplicable, "infrastructure-machine/api-group": conformance.NotApplicable},
		},
		"components without roles": {
			func(document string) bool { return !strings.Contains(document, "kind: ClusterRole\n") },
			map[string]conformance.Status{"infrastructure-machine/api-group": conformance.Failed},
		},
		"templates without their kinds": {
			func(document string) bool {
				return strings.Contains(document, "kind: CustomResourceDefinition\n") && strings.Contains(document, "Template, ")
			},
			map[string]conformance.Status{"infrastructure-machine/template-fields": conformance.NotApplicable, "infrastructure-machine/template-name": conformance.Failed},
		},
		"webhooks alone": {
			func(document string) bool { return strings.Contains(document, "WebhookConfiguration\n") },
			map[string]conformance.Status{"clusterctl/webhook-service": conformance.NotApplicable},
		},
		"an extension without its Service": {
			func(document string) bool { return strings.Contains(document, "kind: ExtensionConfig\n") },
			map[string]conformance.Status{"runtime-extension/service": conformance.NotApplicable, "runtime-extension/service-port": conformance.Passed},
		},
		"components without a Service": {
			func(document string) bool { return !strings.Contains(document, "kind: Service\n") },
			map[string]conformance.Status{"runtime-extension/service": conformance.Failed, "clusterctl/webhook-service": conformance.Failed},
		},
		"an extension with a Service": {
			func(document string) bool { return !strings.Contains(document, "  name: remote\n") },
			map[string]conformance.Status{"runtime-extension/url": conformance.NotClaimed, "runtime-extension/service": conformance.Passed, "runtime-extension/ca-secret": conformance.Passed},
		},
		"an extension with a URL": {
			func(document string) bool { return strings.Contains(document, "  name: remote\n") },
			map[string]conformance.Status{
				"runtime-extension/url": conformance.Passed, "runtime-extension/service-port": conformance.NotClaimed,
				"runtime-extension/ca-secret": conformance.NotClaimed, "runtime-extension/settings": conformance.NotApplicable,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			documents := slices.DeleteFunc(strings.Split(string(data), "---\n"), func(document string) bool { return !test.keep(document) })
			releases, err := lint.Load(strings.NewReader(strings.Join(documents, "---\n")), "-")
			g.Expect(err).NotTo(HaveOccurred())
			report, err := conformance.Check(t.Context(), conformance.Options{Checkers: []conformance.Checker{&lint.Linter{Releases: releases}}})
			g.Expect(err).NotTo(HaveOccurred())
			for rule, status := range test.want {
				g.Expect(outcomes(report.Results)).To(HaveKeyWithValue(rule, status))
			}
		})
	}
}

// A template whose kind has no label of the same contract has nothing to be compared with.
func TestTemplateOfAKindWithoutItsContract(t *testing.T) {
	g := NewWithT(t)
	data, err := os.ReadFile(filepath.Join(base, release, components))
	g.Expect(err).NotTo(HaveOccurred())
	before, kind, found := strings.Cut(string(data), "name: demomachines.infrastructure.demo.example.com\n")
	g.Expect(found).To(BeTrue())
	text := before + "name: demomachines.infrastructure.demo.example.com\n" + strings.Replace(kind, ", cluster.x-k8s.io/v1beta2: v1beta2}", "}", 1)
	releases, err := lint.Load(strings.NewReader(text), "-")
	g.Expect(err).NotTo(HaveOccurred())
	for version, want := range map[string]conformance.Status{"v1beta1": conformance.Passed, "v1beta2": conformance.NotApplicable} {
		results, err := (&lint.Linter{Releases: releases}).Check(t.Context(), []string{version})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(outcomes(results)).To(HaveKeyWithValue("infrastructure-machine/template-fields", want), version)
	}
}

// The label of a release of a runtime extension.
func TestMisspeltTypeOfProvider(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "runtime-extension-components.yaml")
	content := "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, labels: {cluster.x-k8s.io/provider: runtime-extensions-demo}}\n"
	g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	g.Expect(check(t, g, filepath.Dir(path))).To(ContainElement(And(HaveField("Rule", "clusterctl/provider-label-value"), HaveField("Status", conformance.Warned),
		HaveField("Findings", HaveExactElements(HaveField("Message", ContainSubstring(`"runtime-extensions-demo", which has no type of provider`)))))))
}
