// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"testing"

	"github.com/blang/semver/v4"
	. "github.com/onsi/gomega"
)

func TestSkipsMinor(t *testing.T) {
	for name, test := range map[string]struct {
		wanted string
		want   bool
	}{
		"the same":                        {"1.36.3", false},
		"an older one":                    {"1.35.0", false},
		"the next minor":                  {"1.37.9", false},
		"two minors above":                {"1.38.0", true},
		"a pre-release two minors above":  {"1.38.0-alpha.1", true},
		"another major":                   {"2.0.0", true},
		"a pre-release of the next minor": {"1.37.0-rc.0", false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(SkipsMinor(semver.MustParse(test.wanted), semver.MustParse("1.36.3"))).To(Equal(test.want))
		})
	}
}

func TestCheckReplicas(t *testing.T) {
	g := NewWithT(t)
	for _, replicas := range []int{1, 3, 5} {
		g.Expect(CheckReplicas(replicas)).To(Succeed())
		g.Expect(CheckReplicasOfExternalEtcd(replicas)).To(Succeed())
	}
	g.Expect(CheckReplicas(2)).To(MatchError(ContainSubstring("must be odd")))
	g.Expect(CheckReplicasOfExternalEtcd(2)).To(Succeed())
	for _, replicas := range []int{0, -1} {
		g.Expect(CheckReplicas(replicas)).To(MatchError(ContainSubstring("at least 1")))
		g.Expect(CheckReplicasOfExternalEtcd(replicas)).To(MatchError(ContainSubstring("at least 1")))
	}
}
