// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// holding returns a ConfigMap with one key.
func holding(text string) source {
	return source{kind: configMapKind, name: "a", addon: "cni", data: map[string][]byte{"all.yaml": []byte(text)}}
}

// manifest returns a minimal manifest.
func manifest(apiVersion, kind, name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n", apiVersion, kind, name)
}

func described(objects []object) []string {
	var list []string
	for _, one := range objects {
		list = append(list, one.String())
	}
	return list
}

func TestObjects(t *testing.T) {
	one := manifest("v1", "ConfigMap", "one")
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"one":                    {one, []string{"ConfigMap one"}},
		"several documents":      {one + "---\n" + manifest("v1", "Secret", "two"), []string{"ConfigMap one", "Secret two"}},
		"empty documents":        {"---\n# nothing\n---\n" + one + "---\n---\n", []string{"ConfigMap one"}},
		"carriage returns":       {strings.ReplaceAll(one+"---\n"+one, "\n", "\r\n"), []string{"ConfigMap one", "ConfigMap one"}},
		"JSON":                   {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"n"}}`, []string{"ConfigMap n/one"}},
		"a List":                 {`{"apiVersion":"v1","kind":"List","items":[` + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}`, []string{"Pod p"}},
		"a list of a kind":       {`{"apiVersion":"v1","kind":"PodList","items":[` + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}`, []string{"Pod p"}},
		"a list of lists":        {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}]}`, []string{"Pod p"}},
		"a separator in a value": {one + "data:\n  x: |\n    a\n    --- b\n", []string{"ConfigMap one"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found, err := holding(test.text).objects()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(described(found)).To(Equal(test.want))
		})
	}
}

func TestNumbersStayWhole(t *testing.T) {
	g := NewWithT(t)
	found, err := holding(manifest("v1", "ConfigMap", "one") + "spec: {replicas: 3, large: 9007199254740993}\n").objects()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found[0].Object["spec"]).To(Equal(map[string]any{"replicas": int64(3), "large": int64(9007199254740993)}))
}

func TestObjectsRefuses(t *testing.T) {
	for want, from := range map[string]source{
		"ConfigMap a has no data, want manifests":                                                                       {kind: configMapKind, name: "a"},
		"ConfigMap a, key b: it is in binaryData, want it in data":                                                      {kind: configMapKind, name: "a", binary: []string{"c", "b"}},
		"ConfigMap a, key all.yaml: contains no objects":                                                                holding("# nothing here\n"),
		"ConfigMap a, key all.yaml: document 1 is not an object":                                                        holding("just words"),
		"ConfigMap a, key all.yaml: document 2 has no usable apiVersion":                                                holding(manifest("v1", "Pod", "p") + "---\nkind: Pod\n"),
		"ConfigMap a, key all.yaml: document 1 has no kind":                                                             holding("apiVersion: v1\n"),
		"ConfigMap a, key all.yaml: document 1 has no metadata.name":                                                    holding("apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n"),
		"ConfigMap a, key all.yaml: document 1 has an item that is not an object":                                       holding("apiVersion: v1\nkind: List\nitems: [1]\n"),
		`ConfigMap a, key all.yaml: document 1 is not YAML: yaml: line 1: did not find expected ',' or '}'`:             holding("{a: b"),
		`ConfigMap a, key all.yaml: document 1 is not YAML: yaml: unmarshal errors: line 2: key "a" already set in map`: holding("a: 1\na: 2\n"),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := from.objects()
			NewWithT(t).Expect(err).To(MatchError(want))
		})
	}
}

func TestProblemsOfSecretsTellNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		broken := rapid.SampledFrom([]string{"hunter2: [", "hunter2", "hunter2: 1\nhunter2: 2", "apiVersion: hunter2/a/b", "- hunter2", "\thunter2: x", "apiVersion: v1\nkind: Pod\nx: &hunter2 {}"}).Draw(t, "text")
		from := holding(broken)
		from.kind = secretKind
		_, err := from.objects()
		g := NewWithT(t)
		g.Expect(err).To(MatchError(HavePrefix("Secret a, key all.yaml: document 1 ")))
		g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
	})
}

func TestReadOrders(t *testing.T) {
	g := NewWithT(t)
	first := holding(strings.Join([]string{
		manifest("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "w"), manifest("apps/v1", "DaemonSet", "d"),
		manifest("cni.example.com/v1", "Pool", "p"), manifest("v1", "ServiceAccount", "s"),
	}, "---\n"))
	second := source{kind: configMapKind, name: "b", addon: "cpi", data: map[string][]byte{
		"2": []byte(manifest("v1", "Namespace", "n2")), "1": []byte(manifest("v1", "Namespace", "n1")),
		"3": []byte(manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "pools.cni.example.com")),
	}}
	found, problems := read([]source{first, second})
	g.Expect(problems).To(BeEmpty())
	g.Expect(described(found)).To(Equal([]string{
		"Namespace n1", "Namespace n2", "CustomResourceDefinition pools.cni.example.com", "ServiceAccount s", "DaemonSet d", "Pool p",
		"ValidatingWebhookConfiguration w",
	}))
}

func TestReadLeavesOutWhatIsWrong(t *testing.T) {
	g := NewWithT(t)
	broken := holding(manifest("v1", "Pod", "fine") + "---\nwrong")
	twice := source{kind: configMapKind, name: "b", addon: "cpi", data: map[string][]byte{
		"x": []byte(manifest("apps/v1", "Deployment", "d") + "---\n" + manifest("v1", "Pod", "p")),
		"y": []byte("apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: d, namespace: default}\n"),
	}}
	found, problems := read([]source{broken, twice})
	g.Expect(described(found)).To(Equal([]string{"Pod p"}))
	g.Expect(problems).To(Equal([]string{
		"ConfigMap a, key all.yaml: document 2 is not an object",
		"Deployment default/d is defined in ConfigMap b, key x and in ConfigMap b, key y, want it in one place",
	}))

	many := strings.Repeat("---\n"+manifest("v1", "Pod", "p"), maxObjects+1)
	found, problems = read([]source{holding(many)})
	g.Expect(found).To(BeEmpty())
	g.Expect(problems).To(Equal([]string{"the add-ons have 1001 objects, want at most 1000"}))
}

// TestReadProperties checks that, however objects are spread over documents, lists, keys and
// sources, each is found once, and dependencies come first.
func TestReadProperties(t *testing.T) {
	rank := []string{"Namespace", "CustomResourceDefinition", "ServiceAccount", "Deployment", "Widget", "ValidatingWebhookConfiguration"}
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		var sources []source
		var want []string
		for i := range rapid.IntRange(1, 4).Draw(t, "sources") {
			var documents []string
			for j := range rapid.IntRange(1, 5).Draw(t, "documents") {
				kind, name := rapid.SampledFrom(rank).Draw(t, "kind"), fmt.Sprintf("o%d-%d", i, j)
				want = append(want, kind+" "+name)
				text := manifest("example.com/v1", kind, name)
				if rapid.Bool().Draw(t, "in a list") {
					item, err := yaml.YAMLToJSON([]byte(text))
					g.Expect(err).NotTo(HaveOccurred())
					text = fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[%s]}`+"\n", item)
				}
				documents = append(documents, text)
			}
			from := holding(strings.Join(documents, "---\n"))
			from.name = fmt.Sprintf("c%d", i)
			sources = append(sources, from)
		}
		found, problems := read(sources)
		g.Expect(problems).To(BeEmpty())
		g.Expect(described(found)).To(ConsistOf(want))
		g.Expect(slices.IsSortedFunc(found, func(a, b object) int {
			return slices.Index(rank, a.GetKind()) - slices.Index(rank, b.GetKind())
		})).To(BeTrue())
		again, _ := read(sources)
		g.Expect(described(again)).To(Equal(described(found)))
	})
}
