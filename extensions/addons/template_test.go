// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// blue is a Cluster with values for templates.
var blue = &clusterv1.Cluster{
	ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", Labels: map[string]string{"cni": "flannel"}, Annotations: map[string]string{"note": "a\nb: c"}},
	Spec: clusterv1.ClusterSpec{
		ClusterNetwork: clusterv1.ClusterNetwork{Pods: clusterv1.NetworkRanges{CIDRBlocks: []string{"10.1.0.0/16", "fd00::/48"}}},
		Topology: clusterv1.Topology{Version: "v1.37.0", Variables: []clusterv1.ClusterVariable{
			{Name: "replicas", Value: apiextensionsv1.JSON{Raw: []byte(`3`)}},
			{Name: "ca", Value: apiextensionsv1.JSON{Raw: []byte(`"one\ntwo"`)}},
			{Name: "proxy", Value: apiextensionsv1.JSON{Raw: []byte(`{"host":"p","port":3128}`)}},
			{Name: "none", Value: apiextensionsv1.JSON{Raw: []byte(`null`)}},
		}},
	},
}

func filled(text string) (string, error) {
	return fill(text, blue, "v1.36.3", &corev1.Secret{Data: map[string][]byte{"token": []byte("hunter2")}})
}

func TestTemplates(t *testing.T) {
	for text, want := range map[string]string{
		"no value":                     "no value",
		"{{ .Cluster.metadata.name }}": "blue",
		"{{ .KubernetesVersion }}":     "v1.36.3",
		"{{ .Variables.replicas }} {{ .Variables.proxy.port }}":                                               "3 3128",
		"{{ index .Cluster.spec.clusterNetwork.pods.cidrBlocks 0 }}":                                          "10.1.0.0/16",
		`{{ join .Cluster.spec.clusterNetwork.pods.cidrBlocks "," }}`:                                         "10.1.0.0/16,fd00::/48",
		"{{ range $i, $cidr := .Cluster.spec.clusterNetwork.pods.cidrBlocks }}{{ $i }} {{ $cidr }} {{ end }}": "0 10.1.0.0/16 1 fd00::/48 ",
		"{{ .Secret.token }}":                                              "hunter2",
		"{{ .Variables.ca | toJson }}":                                     `"one\ntwo"`,
		"{{ toJson .Variables.proxy }}":                                    `{"host":"p","port":3128}`,
		`{{ with index .Variables "absent" }}{{ . }}{{ else }}no{{ end }}`: "no",
		`{{ printf "%-4s|%05.1f|%[1]q|%[3]v" "a" 2.25 .Cluster.spec.clusterNetwork.pods.cidrBlocks }}`: `a   |002.2|"a"|[10.1.0.0/16 fd00::/48]`,
		`{{ print "a" 1 2 "b" }} {{ html "<" }} {{ js "'" }} {{ urlquery "a b" }}`:                     `a1 2b &lt; \' a+b`,
		`{{ "{{" }} $labels.x }}`: "{{ $labels.x }}",
		`{{ define "a" }}{{ . }}{{ end }}{{ template "a" .KubernetesVersion }}`: "v1.36.3",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			got, err := filled(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(want))
		})
	}
}

// The job reads a Cluster from the API server, and the controller that finds changes reads it from a
// cache. Both must get the same.
func TestTemplatesDoNotDependOnWhereTheClusterIsRead(t *testing.T) {
	g := NewWithT(t)
	cached, live := blue.DeepCopy(), blue.DeepCopy()
	cached.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Cluster"))
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	cached.ResourceVersion, live.ResourceVersion = "1", "2"
	const text = "{{ .Cluster.apiVersion }} {{ .Cluster.kind }} {{ toJson .Cluster }}"
	want, err := fill(text, cached, "v1.36.3", &corev1.Secret{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(want).To(HavePrefix("cluster.x-k8s.io/v1beta2 Cluster {"))
	g.Expect(fill(text, live, "v1.36.3", &corev1.Secret{})).To(Equal(want))
}

// The limit that the documentation names, and the way out.
func TestAValueInBracesNeedsToJSON(t *testing.T) {
	g := NewWithT(t)
	cluster := blue.DeepCopy()
	cluster.Labels["cni"] = "flannel, hostNetwork: true"
	of := func(text string) any {
		made, err := fill("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {value: "+text+"}\n", cluster, "v1.36.3", &corev1.Secret{})
		g.Expect(err).NotTo(HaveOccurred())
		objects, err := parseManifests(made)
		g.Expect(err).NotTo(HaveOccurred())
		return objects[0].Object["spec"]
	}
	g.Expect(of("{{ .Cluster.metadata.labels.cni }}")).To(HaveKeyWithValue("hostNetwork", true))
	g.Expect(of("{{ toJson .Cluster.metadata.labels.cni }}")).To(Equal(map[string]any{"value": "flannel, hostNetwork: true"}))
}

// double makes a text of 512 KiB.
const double = `{{ $x := "aaaaaaaa" }}{{ range 16 }}{{ $x = print $x $x }}{{ end }}`

func TestTemplatesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a\n{{ .Cluster":                           "template:2: unclosed action",
		"{{ shout 1 }}":                            `template:1: function "shout" not defined`,
		"a\n{{ .Variables.absent }}":               `template:2:13: executing "template" at <.Variables.absent>: map has no entry for key "absent"`,
		"{{ .Secret.absent }}":                     `template:1:10: executing "template" at <.Secret.absent>: map has no entry for key "absent"`,
		"{{ .Cluster.status.phase }}":              `template:1:11: executing "template" at <.Cluster.status.phase>: map has no entry for key "status"`,
		`{{ index .Variables "absent" }}`:          "there is no value",
		"{{ .Variables.none }}":                    "there is no value",
		"{{ .Variables.proxy }}":                   "the value is a list or has fields; use toJson",
		"{{ .Cluster.metadata.annotations.note }}": "the value has several lines, which could add fields or objects; use toJson",
		"{{ if true }}{{ range 2 }}{{ with $.Variables }}{{ .ca }}{{ end }}{{ end }}{{ end }}": "the value has several lines",
		"{{ range 1000000000 }}{{ end }}":                                                 "it takes more than 100000 steps",
		"{{ range 1000000000 }}{{ if false }}{{ end }}{{ end }}":                          "it takes more than 100000 steps",
		`{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`: "it takes more than 100000 steps",
		double + "{{ range 16 }}{{ $x }}{{ end }}":                                        "the manifests are larger than 4 MiB",
		`{{ $x := "aaaaaaaa" }}{{ range 40 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`:     "the functions of the template produce more than 4 MiB of text",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := filled(text)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}

// Whatever a template does, it needs a few times the memory of the largest manifests.
func TestMemoryOfTemplatesIsBounded(t *testing.T) {
	const (
		made  = "the functions of the template produce more than 4 MiB of text"
		width = "printf takes widths and precisions only up to 99, and none from its arguments"
		steps = "it takes more than 100000 steps"
	)
	variables := strings.Repeat("{{ $x := 1 }}", 20_000)
	list := strings.TrimSuffix(strings.Repeat("1,", 100_000), ",")
	cluster := blue.DeepCopy()
	cluster.Spec.Topology.Variables = append(cluster.Spec.Topology.Variables,
		clusterv1.ClusterVariable{Name: "list", Value: apiextensionsv1.JSON{Raw: []byte("[" + list + "]")}})
	for text, want := range map[string]string{
		double + "{{ range 9 }}{{ $y := toJson $x }}{{ end }}":                           made,
		double + "{{ $y := print" + strings.Repeat(" $x", 2_000) + " }}":                 made,
		double + "{{ $y := println" + strings.Repeat(" $x", 2_000) + " }}":               made,
		double + "{{ $y := html" + strings.Repeat(" $x", 2_000) + " }}":                  made,
		double + "{{ $y := js" + strings.Repeat(" $x", 2_000) + " }}":                    made,
		double + "{{ $y := urlquery" + strings.Repeat(" $x", 2_000) + " }}":              made,
		double + "{{ $y := join .Variables.list $x }}":                                   made,
		double + `{{ $y := printf "` + strings.Repeat("%[1]s", 2_000) + `" $x }}`:        made,
		double + `{{ $y := printf ""` + strings.Repeat(" $x", 2_000) + ` }}`:             made,
		`{{ $y := printf "` + strings.Repeat("%[1]99v", 2_000) + `" .Variables.list }}`:  made,
		`{{ $y := print` + strings.Repeat(" .Variables.list", 2_000) + ` }}`:             made,
		`{{ $y := printf "` + strings.Repeat("%[1]1000000d", 2_000) + `" 1 }}`:           width,
		`{{ $y := printf "` + strings.Repeat("%.1000000f", 2_000) + `" 1.5 }}`:           width,
		`{{ $y := printf "` + strings.Repeat("%[1]*d", 2_000) + `" 1000000 }}`:           width,
		`{{ $y := printf "` + strings.Repeat("%-+# 0.[1]*[1]d", 2_000) + `" 1000000 }}`:  width,
		"{{ range 10000 }}" + variables + "{{ end }}":                                    steps,
		`{{ define "a" }}` + variables + `{{ template "a" }}{{ end }}{{ template "a" }}`: steps,
	} {
		t.Run(text[:min(len(text), 120)], func(t *testing.T) {
			g := NewWithT(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := fill(text, cluster, "v1.36.3", &corev1.Secret{})
			runtime.ReadMemStats(&after)
			g.Expect(err).To(MatchError(ContainSubstring(want)))
			g.Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 256<<20))
		})
	}
}
