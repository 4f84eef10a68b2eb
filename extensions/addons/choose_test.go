// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"fmt"
	"slices"
	"testing"

	"github.com/blang/semver/v4"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
)

// variant is a source with annotations in key-value pairs.
func variant(addon, name string, annotations ...string) source {
	made := source{kind: configMapKind, name: name, addon: addon, annotations: map[string]string{}}
	for i := 0; i+1 < len(annotations); i += 2 {
		made.annotations[annotations[i]] = annotations[i+1]
	}
	return made
}

func secretVariant(addon, name string, annotations ...string) source {
	made := variant(addon, name, annotations...)
	made.kind = secretKind
	return made
}

func chosenNames(made choice) []string {
	var list []string
	for _, one := range made.chosen {
		list = append(list, one.String())
	}
	return list
}

func TestChoose(t *testing.T) {
	const selector, versions, moments = ClusterSelectorAnnotation, VersionsAnnotation, ApplyAnnotation
	for name, test := range map[string]struct {
		sources  []source
		moment   Moment
		version  string
		chosen   []string
		missing  []string
		problems []string
	}{
		"nothing": {},
		"every Cluster by default": {
			sources: []source{variant("cni", "a"), secretVariant("cpi", "b")}, chosen: []string{"ConfigMap a", "Secret b"},
		},
		"only Clusters that are selected": {
			sources: []source{variant("cni", "a", selector, "env in (test,stage)"), variant("cpi", "b", selector, "env=prod"), variant("csi", "c", selector, "")},
			chosen:  []string{"ConfigMap a", "ConfigMap c"},
		},
		"the variant for the version": {
			sources: []source{variant("cni", "old", versions, "<1.36.0"), variant("cni", "new", versions, ">=1.36.0 <1.37.0"), variant("cni", "next", versions, "1.37.x")},
			chosen:  []string{"ConfigMap new"},
		},
		"a pre-release comes before its release": {
			version: "1.36.0-rc.1",
			sources: []source{variant("cni", "old", versions, "<1.36.0"), variant("cni", "new", versions, ">=1.36.0")},
			chosen:  []string{"ConfigMap old"},
		},
		"none for the version": {
			sources: []source{variant("cni", "old", versions, "<1.36.0"), variant("cpi", "b", versions, "<1.36.0", selector, "env=prod")},
			missing: []string{"cni"},
		},
		"two that fit": {
			sources:  []source{secretVariant("cni", "a"), variant("cni", "b", versions, ">=1.30.0"), variant("cpi", "c")},
			chosen:   []string{"ConfigMap c"},
			problems: []string{"add-on cni has several variants for v1.36.3, want one: ConfigMap b, Secret a"},
		},
		"two that fit other Clusters": {
			sources: []source{variant("cni", "a", selector, "env=test"), variant("cni", "b", selector, "env=prod")},
			chosen:  []string{"ConfigMap a"},
		},
		"only those of the moment": {
			moment: BeforeUpgrade,
			sources: []source{
				variant("cni", "a"), variant("cpi", "b", moments, "before-upgrade"),
				variant("csi", "c", moments, "before-upgrade, after-initialization"), variant("dns", "d", moments, "after-initialization"),
			},
			chosen: []string{"ConfigMap b", "ConfigMap c"},
		},
		"a variant that cannot be read holds up its add-on only": {
			sources: []source{
				variant("cni", "a", versions, "at least 1.36"), variant("cni", "b"), variant("cpi", "c", selector, "a b"),
				variant("csi", "d", moments, "after-upgrade"), variant("dns", "e"),
			},
			chosen: []string{"ConfigMap e"},
			problems: []string{
				`ConfigMap a: annotation foo.cluster.x-k8s.io/kubernetes-versions is "at least 1.36", want a range of versions, for example >=1.35.0 <1.37.0`,
				`ConfigMap c: annotation foo.cluster.x-k8s.io/cluster-selector is "a b", want a label selector, for example cni=calico`,
				`ConfigMap d: annotation foo.cluster.x-k8s.io/apply is "after-upgrade", want after-initialization, before-upgrade or both, separated by a comma`,
			},
		},
		"a range is not read for other Clusters": {
			sources: []source{variant("cni", "a", versions, "wrong", selector, "env=prod")},
		},
		"a label without a name": {
			sources:  []source{variant("", "a"), secretVariant("", "b")},
			problems: []string{"ConfigMap a, Secret b: label foo.cluster.x-k8s.io/addon is empty, want the name of an add-on"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want := target{labels: labels.Set{"env": "test"}, version: semver.MustParse("1.36.3"), moment: AfterInitialization}
			if test.version != "" {
				want.version = semver.MustParse(test.version)
			}
			if test.moment != "" {
				want.moment = test.moment
			}
			made := choose(test.sources, want)
			g.Expect(chosenNames(made)).To(Equal(test.chosen))
			g.Expect(made.missing).To(Equal(test.missing))
			g.Expect(made.problems).To(Equal(test.problems))
		})
	}
}

// TestChooseProperties checks that, whatever sources there are and in whatever order they come, no
// add-on is named twice, chosen variants fit, and the answer is the same.
func TestChooseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		want := target{
			labels:  labels.Set{"env": rapid.SampledFrom([]string{"test", "prod"}).Draw(t, "env")},
			version: semver.Version{Major: 1, Minor: rapid.Uint64Range(34, 38).Draw(t, "minor")},
			moment:  rapid.SampledFrom([]Moment{AfterInitialization, BeforeUpgrade}).Draw(t, "moment"),
		}
		optional := func(label string, values ...string) string {
			return rapid.SampledFrom(append(values, "")).Draw(t, label)
		}
		var sources []source
		for i := range rapid.IntRange(0, 8).Draw(t, "count") {
			made := variant(rapid.SampledFrom([]string{"cni", "cpi", "csi"}).Draw(t, "addon"), fmt.Sprintf("v%d", i))
			for annotation, value := range map[string]string{
				ClusterSelectorAnnotation: optional("selector", "env=test", "env=prod", "=="),
				VersionsAnnotation:        optional("versions", "<1.36.0", ">=1.36.0", "1.36.x", "?"),
				ApplyAnnotation:           optional("apply", "before-upgrade", "after-initialization,before-upgrade", "never"),
			} {
				if value != "" {
					made.annotations[annotation] = value
				}
			}
			sources = append(sources, made)
		}
		made := choose(sources, want)
		g.Expect(choose(rapid.Permutation(sources).Draw(t, "other order"), want)).To(Equal(made))
		var addons []string
		for _, one := range made.chosen {
			addons = append(addons, one.addon)
			fit, err := match(one, want)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fit).To(Equal(fits))
			for _, other := range sources {
				otherFit, err := match(other, want)
				g.Expect(other.addon == one.addon && other.name != one.name && (err != nil || otherFit == fits)).To(BeFalse(), "%s stands against %s", other, one)
			}
		}
		addons = append(addons, made.missing...)
		slices.Sort(addons)
		g.Expect(slices.Compact(slices.Clone(addons))).To(Equal(addons), "no add-on is named twice")
	})
}
