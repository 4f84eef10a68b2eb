// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	clusterctlrepository "sigs.k8s.io/cluster-api/cmd/clusterctl/client/repository"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const (
	// sources is the root folder, as seen from here.
	sources = "../.."
	version = "v0.1.0"
)

func TestReleaseIsReproducible(t *testing.T) {
	g := NewWithT(t)
	first, second := t.TempDir(), t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: first})).To(Succeed())
	g.Expect(run(release{sources: sources, version: version, output: second})).To(Succeed())
	one, other := contents(g, first), contents(g, second)
	g.Expect(len(one)).To(BeNumerically(">=", 7))
	g.Expect(string(one[configurationFile])).To(ContainSubstring(first), "clusterctl requires absolute paths")
	delete(one, configurationFile)
	delete(other, configurationFile)
	g.Expect(one).To(Equal(other))
}

func TestReleaseReplacesItsVersionOnly(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: "v0.1.0", output: output})).To(Succeed())
	before := contents(g, output)
	g.Expect(run(release{sources: sources, version: "v0.1.1-rc.1", output: output})).To(Succeed())
	for _, folder := range []string{"sbom", "images", "packages"} {
		g.Expect(os.Mkdir(filepath.Join(output, folder), 0o700)).To(Succeed())
	}
	write := func(name string) { g.Expect(os.WriteFile(filepath.Join(output, name), nil, 0o600)).To(Succeed()) }
	write("infrastructure-foo/v0.1.0/cluster-template-gone.yaml")
	others := []string{
		"images/manager-v0.1.0-rc.1.tar", "sbom/manager-v0.1.0-rc.1-amd64.cdx.json", "sbom/node-v1.36.3-v0.1.0-alpha.64-arm64.cdx.json",
		"sbom/foo-v0.1.0-rc.1-linux-amd64.licenses.txt", "packages/foo-v0.1.0-rc.1-linux-amd64.deb",
	}
	for _, name := range others {
		write(name)
		write(strings.NewReplacer("-rc.1", "", "-alpha.64", "").Replace(name))
	}
	g.Expect(run(release{sources: sources, version: "v0.1.0", output: output})).To(Succeed())
	after := contents(g, output)
	g.Expect(after).To(HaveKey("infrastructure-foo/v0.1.1-rc.1/metadata.yaml"))
	for name := range after {
		if strings.Contains(name, "v0.1.1-rc.1") {
			delete(after, name)
		}
	}
	for _, name := range others {
		g.Expect(after).To(HaveKey(name))
		delete(after, name)
	}
	g.Expect(after).To(Equal(before))
}

func TestWrongVersionIsRefused(t *testing.T) {
	for _, test := range []struct{ version, want string }{
		{"", `version "": want v<major>.<minor>.<patch>`},
		{"0.1.0", `version "0.1.0": want v<major>.<minor>.<patch>`},
		{"v0.1", "want v<major>.<minor>.<patch>"},
		{"v0.1.0.0", "want v<major>.<minor>.<patch>"},
		{"v0.1.00", "want v<major>.<minor>.<patch>"},
		{"v0.1.0+build", "want v<major>.<minor>.<patch>"},
		{"v0.1.0/../../x", "want v<major>.<minor>.<patch>"},
		{"latest", "want v<major>.<minor>.<patch>"},
		{"v0.9.0", "no release series in metadata.yaml"},
		{"v1.1.0", "no release series"},
	} {
		t.Run(test.version, func(t *testing.T) {
			g := NewWithT(t)
			output := filepath.Join(t.TempDir(), "out")
			g.Expect(run(release{sources: sources, version: test.version, output: output})).To(MatchError(ContainSubstring(test.want)))
			g.Expect(output).NotTo(BeADirectory())
		})
	}
	metadata, err := os.ReadFile(filepath.Join(sources, "metadata.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(metadataOf("v0.1.3-rc.1", metadata)).Error().NotTo(HaveOccurred())
}

// clusterctl upgrades only from versions whose series the new release lists.
func TestMetadataListsTheSeriesUntilItsOwn(t *testing.T) {
	const header = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
	const first, second, third = "- {major: 0, minor: 9, contract: v1beta1}\n", "- {major: 0, minor: 10, contract: v1beta2}\n", "- {major: 1, minor: 0, contract: v1beta2}\n"
	for version, want := range map[string]string{
		"v0.9.3": first, "v0.10.0": first + second, "v0.10.1-rc.1": first + second, "v1.0.0-rc.1": first + second + third, "v1.0.7": first + second + third,
	} {
		t.Run(version, func(t *testing.T) {
			NewWithT(t).Expect(metadataOf(version, []byte(header+first+second+third))).To(MatchYAML(header + want))
		})
	}
}

func TestClusterctlFindsTheNewestRelease(t *testing.T) {
	for newest, versions := range map[string][]string{
		"v0.1.1": {"v0.1.0", "v0.1.1", "v0.2.0-rc.1"}, "v0.2.0": {"v0.1.1", "v0.2.0", "v0.1.2"},
	} {
		t.Run(newest, func(t *testing.T) {
			g := NewWithT(t)
			output := t.TempDir()
			for _, version := range versions {
				g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())
			}
			settings, err := config.New(t.Context(), filepath.Join(output, configurationFile))
			g.Expect(err).NotTo(HaveOccurred())
			for _, provider := range providers {
				at := provider.at("latest")
				published := config.NewProvider(at.Name, filepath.Join(output, at.ComponentsFile()), provider.kind)
				client, err := clusterctlrepository.New(t.Context(), published, settings)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(client.DefaultVersion()).To(Equal(newest))
			}
		})
	}
}

func TestDocumentedVersionsBelongToASeries(t *testing.T) {
	g := NewWithT(t)
	metadata, err := os.ReadFile(filepath.Join(sources, "metadata.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	pages, err := filepath.Glob(filepath.Join(sources, "docs", "*.md"))
	g.Expect(err).NotTo(HaveOccurred())
	versions := sets.New[string]()
	for _, page := range pages {
		content, err := os.ReadFile(page)
		g.Expect(err).NotTo(HaveOccurred())
		for _, command := range regexp.MustCompile(`make release VERSION=(v[0-9.]+[0-9])`).FindAllSubmatch(content, -1) {
			versions.Insert(string(command[1]))
		}
	}
	g.Expect(versions).NotTo(BeEmpty())
	for version := range versions {
		g.Expect(metadataOf(version, metadata)).Error().NotTo(HaveOccurred())
	}
}

func TestSourcesElsewhereAreRefused(t *testing.T) {
	g := NewWithT(t)
	output := filepath.Join(t.TempDir(), "out")
	g.Expect(run(release{sources: t.TempDir(), version: version, output: output})).To(MatchError(ContainSubstring("run it in the root folder of the sources")))
	g.Expect(output).NotTo(BeADirectory())
}

func TestComponents(t *testing.T) {
	g := NewWithT(t)
	files, err := build(sources, version)
	g.Expect(err).NotTo(HaveOccurred())
	crds := sets.New[string]()
	owners := map[string]string{}
	for _, provider := range providers {
		at := provider.at(version)
		label := strings.TrimSuffix(at.Dir(), "/"+version)
		content := files[at.ComponentsFile()]
		g.Expect(string(content)).To(HavePrefix("# Foo v0.1.0, " + provider.title))
		kinds := map[string]int{}
		for _, object := range decode(g, content) {
			identity := object.GetKind() + " " + object.GetName()
			g.Expect(object.GetLabels()).To(HaveKeyWithValue(clusterv1.ProviderNameLabel, label), identity)
			g.Expect(owners).NotTo(HaveKey(identity), "deleting one provider would remove it from the other")
			owners[identity] = label
			kinds[object.GetKind()]++
			if object.GetKind() == "CustomResourceDefinition" {
				crds.Insert(object.GetName())
			}
			if object.GetNamespace() != "" {
				g.Expect(object.GetNamespace()).To(Equal(label+"-system"), identity)
			}
		}
		g.Expect(kinds).To(HaveKeyWithValue("Namespace", 1), "clusterctl allows one")
		g.Expect(kinds).To(HaveKeyWithValue("ServiceAccount", 1))
		g.Expect(kinds).To(HaveKeyWithValue("Deployment", 1))
	}
	g.Expect(crds).To(Equal(generatedCRDs(g)), "make generate writes the CRDs, config/crd/*/kustomization.yaml lists them")
}

// The roles of the providers are generated separately from the role of the manager that runs both.
func TestProvidersHaveTheRightsOfTheManager(t *testing.T) {
	g := NewWithT(t)
	both := rights(g, "config/control-plane/role.yaml").Union(rights(g, "config/infrastructure/role.yaml"))
	manager := rights(g, "config/default/role.yaml")
	g.Expect(sets.List(manager.Difference(both))).To(BeEmpty(), "roles of the providers are stale: make generate")
	g.Expect(sets.List(both.Difference(manager))).To(BeEmpty(), "roles of the providers are stale: make generate")
}

// rights returns each individual permission that a role in a file grants.
func rights(g *WithT, file string) sets.Set[string] {
	content, err := os.ReadFile(filepath.Join(sources, file))
	g.Expect(err).NotTo(HaveOccurred())
	role := rbacv1.ClusterRole{}
	g.Expect(yaml.UnmarshalStrict(content, &role)).To(Succeed())
	granted := sets.New[string]()
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted.Insert(ofNames(verb+" "+resource+"."+group, rule.ResourceNames)...)
				}
			}
		}
	}
	g.Expect(granted).NotTo(BeEmpty())
	return granted
}

// ofNames returns one permission for each name that it is restricted to.
func ofNames(right string, names []string) []string {
	if len(names) == 0 {
		return []string{right}
	}
	restricted := make([]string, 0, len(names))
	for _, name := range names {
		restricted = append(restricted, right+" "+name)
	}
	return restricted
}

// generatedCRDs returns the names of the CRDs of the providers, or of all.
func generatedCRDs(g *WithT, providers ...string) sets.Set[string] {
	if len(providers) == 0 {
		providers = []string{"*"}
	}
	names := sets.New[string]()
	for _, provider := range providers {
		paths, err := filepath.Glob(filepath.Join(sources, "config/crd", provider, "bases/*.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		for _, path := range paths {
			content, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			for _, object := range decode(g, content) {
				names.Insert(object.GetName())
			}
		}
	}
	return names
}

// contents reads all files below a folder.
func contents(g *WithT, root string) repository.Files {
	files := repository.Files{}
	g.Expect(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})).To(Succeed())
	return files
}
