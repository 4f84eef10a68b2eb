//go:build !e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"os"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"
)

// The configuration and the specs name the versions that `make upstream` builds.
func TestVersions(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile("config.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var settings struct {
		Providers []struct {
			Name     string
			Versions []struct{ Name, Value string }
		}
		Variables map[string]string
	}
	g.Expect(yaml.Unmarshal(content, &settings)).To(Succeed())

	clusterAPI := find(g, "go.mod", `sigs\.k8s\.io/cluster-api (v\S+)`)
	g.Expect(clusterAPI).To(Equal(find(g, "../../go.mod", `sigs\.k8s\.io/cluster-api (v\S+)`)), "the specs are those of Foo's Cluster API")
	g.Expect(clusterAPI).To(Equal(find(g, "go.mod", `sigs\.k8s\.io/cluster-api/test (v\S+)`)))
	foo := []string{
		find(g, "../../Makefile", `call management,\S+,(v[^,]+),\S+,\$\(BIN\)/management`),
		find(g, "../../Makefile", `NEXT_RELEASE := (v\S+)`),
	}
	for _, provider := range settings.Providers {
		want := []string{clusterAPI}
		if provider.Name == "foo" {
			want = foo
		}
		var named []string
		for _, version := range provider.Versions {
			named = append(named, version.Name)
			g.Expect(version.Value).To(ContainSubstring("/" + version.Name + "/"))
		}
		g.Expect(named).To(Equal(want), provider.Name)
	}
	for _, file := range []string{"config.yaml", "specs_test.go"} {
		g.Expect(findAll(g, file, `(?:-foo/|foo:)(v[0-9.]+)`)).To(Equal(sets.New(foo...)), file)
	}
	g.Expect(findAll(g, "config.yaml", `(?:cluster-api|kubeadm|extension)/(v[0-9.]+)`)).To(Equal(sets.New(clusterAPI)))

	kubernetes := find(g, "../../Makefile", `(?m)^KUBERNETES_VERSION \?= (v\S+)`)
	for _, variable := range []string{"KUBERNETES_VERSION_MANAGEMENT", "KUBERNETES_VERSION", "KUBERNETES_VERSION_UPGRADE_TO"} {
		g.Expect(settings.Variables).To(HaveKeyWithValue(variable, kubernetes))
	}
	g.Expect(settings.Variables["KUBERNETES_VERSION_UPGRADE_FROM"]).To(Equal(find(g, "../../node/kubernetes/v1.35.mod", `k8s\.io/kubernetes (v\S+)`)))
}

func find(g Gomega, file, pattern string) string {
	found := findAll(g, file, pattern)
	g.Expect(found).To(HaveLen(1), "%s in %s", pattern, file)
	return found.UnsortedList()[0]
}

// findAll returns all different matches of the group in the pattern.
func findAll(g Gomega, file, pattern string) sets.Set[string] {
	content, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	found := sets.New[string]()
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
		found.Insert(match[1])
	}
	return found
}
