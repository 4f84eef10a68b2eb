// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// manifest returns a minimal manifest.
func manifest(apiVersion, kind, name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n", apiVersion, kind, name)
}

func titles(objects []*unstructured.Unstructured) []string {
	var list []string
	for _, one := range objects {
		list = append(list, title(one))
	}
	return list
}

func TestParseManifests(t *testing.T) {
	one := manifest("v1", "ConfigMap", "one")
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                {"# nothing here\n", nil},
		"one":                    {one, []string{"ConfigMap one"}},
		"several documents":      {one + "---\n" + manifest("v1", "Secret", "two"), []string{"ConfigMap one", "Secret two"}},
		"empty documents":        {"---\n# nothing\n---\n" + one + "---\n---\n", []string{"ConfigMap one"}},
		"carriage returns":       {strings.ReplaceAll(one+"---\n"+one, "\n", "\r\n"), []string{"ConfigMap one", "ConfigMap one"}},
		"JSON":                   {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"n"}}`, []string{"ConfigMap n/one"}},
		"a List":                 {`{"apiVersion":"v1","kind":"List","items":[` + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}`, []string{"Pod p"}},
		"a list of a kind":       {`{"apiVersion":"v1","kind":"PodList","items":[` + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}`, []string{"Pod p"}},
		"a list of lists":        {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}]}`, []string{"Pod p"}},
		"a separator in a value": {one + "data:\n  x: |\n    a\n    --- b\n", []string{"ConfigMap one"}},
		"dependencies first": {
			strings.Join([]string{
				manifest("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "w"), manifest("apps/v1", "DaemonSet", "d"),
				manifest("cni.example.com/v1", "Pool", "p"), manifest("v1", "ServiceAccount", "s"),
				manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "pools.cni.example.com"), manifest("v1", "Namespace", "n1"),
			}, "---\n"),
			[]string{"Namespace n1", "CustomResourceDefinition pools.cni.example.com", "ServiceAccount s", "DaemonSet d", "Pool p", "ValidatingWebhookConfiguration w"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found, err := parseManifests(test.text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(titles(found)).To(Equal(test.want))
		})
	}
}

func TestNumbersStayWhole(t *testing.T) {
	g := NewWithT(t)
	found, err := parseManifests(manifest("v1", "ConfigMap", "one") + "spec: {replicas: 3, large: 9007199254740993}\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found[0].Object["spec"]).To(Equal(map[string]any{"replicas": int64(3), "large": int64(9007199254740993)}))
}

func TestParseManifestsRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"document 1 is not an object":                                                             "just words",
		"document 2 has no usable apiVersion":                                                     manifest("v1", "Pod", "p") + "---\nkind: Pod\n",
		"document 1 has no kind":                                                                  "apiVersion: v1\n",
		"document 1 has no metadata.name":                                                         "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n",
		"document 1 has an item that is not an object":                                            "apiVersion: v1\nkind: List\nitems: [1]\n",
		`document 1 is not YAML: yaml: line 1: did not find expected ',' or '}'`:                  "{a: b",
		"document 1 is not YAML: yaml: unmarshal errors:\n  line 2: key \"a\" already set in map": "a: 1\na: 2\n",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := parseManifests(text)
			NewWithT(t).Expect(err).To(MatchError(want))
		})
	}
}

// However objects are spread over documents and lists, each is found once, and dependencies come
// first.
func TestParseManifestsProperties(t *testing.T) {
	rank := []string{"Namespace", "CustomResourceDefinition", "ServiceAccount", "Deployment", "Widget", "ValidatingWebhookConfiguration"}
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		var documents, want []string
		for i := range rapid.IntRange(1, 9).Draw(t, "documents") {
			kind, name := rapid.SampledFrom(rank).Draw(t, "kind"), fmt.Sprintf("o%d", i)
			want = append(want, kind+" "+name)
			text := manifest("example.com/v1", kind, name)
			if rapid.Bool().Draw(t, "in a list") {
				item, err := yaml.YAMLToJSON([]byte(text))
				g.Expect(err).NotTo(HaveOccurred())
				text = fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[%s]}`+"\n", item)
			}
			documents = append(documents, text)
		}
		found, err := parseManifests(strings.Join(documents, "---\n"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(titles(found)).To(ConsistOf(want))
		g.Expect(slices.IsSortedFunc(found, func(a, b *unstructured.Unstructured) int {
			return slices.Index(rank, a.GetKind()) - slices.Index(rank, b.GetKind())
		})).To(BeTrue())
	})
}
