// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestPick(t *testing.T) {
	all := []cloud.Instance{
		{ID: "i0001aaaa", Name: "default.demo-control-plane-x7k2p"},
		{ID: "i0002bbbb", Name: "default.demo-workers-4tq9z"},
		{ID: "i0003cccc", Name: "other.demo-workers-4tq9z"},
		{ID: "i0004dddd", Name: "demo"},
	}
	for wanted, id := range map[string]string{
		"i0001aaaa":                        "i0001aaaa",
		"i0001":                            "i0001aaaa",
		"default.demo-control-plane-x7k2p": "i0001aaaa",
		"demo-control-plane-x7k2p":         "i0001aaaa",
		"demo-c":                           "i0001aaaa",
		"other.":                           "i0003cccc",
		"demo":                             "i0004dddd",
	} {
		t.Run(wanted, func(t *testing.T) {
			g := NewWithT(t)
			picked, err := instances.pick(all, wanted)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(picked.ID).To(Equal(id))
		})
	}
	g := NewWithT(t)
	for _, wanted := range []string{"nothing", ""} {
		_, err := instances.pick(all, wanted)
		g.Expect(cloud.IsNotFound(err)).To(BeTrue(), "%q: %v", wanted, err)
	}
	for _, wanted := range []string{"i0", "demo-workers-4tq9z", "demo-w"} {
		_, err := instances.pick(all, wanted)
		g.Expect(err).To(MatchError(And(ContainSubstring("default.demo-workers-4tq9z (i0002bbbb)"), ContainSubstring("other.demo-workers-4tq9z (i0003cccc)"))))
		code, _ := classify(err)
		g.Expect(code).To(Equal(exitUsage))
	}
}

func TestOfManyCandidatesAFewAreShown(t *testing.T) {
	g := NewWithT(t)
	var all []cloud.Pool
	for number := range 13 {
		all = append(all, cloud.Pool{PoolSpec: cloud.PoolSpec{Name: fmt.Sprintf("default.p%02d", number)}})
	}
	_, err := pools.pick(all, "p")
	g.Expect(err).To(MatchError(`pool "p": the name matches default.p00, default.p01, default.p02, default.p03, default.p04, ` +
		`default.p05, default.p06, default.p07, default.p08, default.p09 and 3 more; give more of the name`))
}
