// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestFill(t *testing.T) {
	g := NewWithT(t)
	groups := []hooks.Group{{Title: "Checks", About: "What they do.", Settings: []hooks.Setting{
		{Name: "checks", Default: "Disabled", Allowed: "a|b", Meaning: "Checks."}, {Name: "url", Allowed: "any", Meaning: "Where."},
	}}}
	want := "before\n" + settingsSection.begin + "\n### Checks\n\nWhat they do.\n\n" +
		"| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n| `checks` | `Disabled` | a\\|b | Checks. |\n| `url` |  | any | Where. |\n\n" + settingsSection.end + "after\n"
	filled, err := settingsSection.fill("before\n"+settingsSection.begin+"old\n"+settingsSection.end+"after\n", tables(groups))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filled).To(Equal(want))
	again, err := settingsSection.fill(filled, tables(groups))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(want))
	_, err = settingsSection.fill("before\nafter\n", tables(groups))
	g.Expect(err).To(MatchError(ContainSubstring("lacks the lines")))
}

// A setting in two groups would be documented twice, possibly in different ways.
func TestSettingsAreThereOnce(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, group := range hooks.Groups() {
		g.Expect(group.Settings).NotTo(BeEmpty(), group.Title)
		for _, doc := range group.Settings {
			g.Expect(seen).NotTo(HaveKey(doc.Name))
			seen[doc.Name] = true
			g.Expect(doc.Allowed).NotTo(BeEmpty(), doc.Name)
			g.Expect(doc.Meaning).To(HaveSuffix("."), doc.Name)
		}
	}
}
