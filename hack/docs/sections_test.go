// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestSection(t *testing.T) {
	g := NewWithT(t)
	groups := []hooks.Group{{Title: "Checks", About: "What they do.", Settings: []hooks.Setting{
		{Name: "checks", Default: "Disabled", Allowed: "a|b", Meaning: "Checks."}, {Name: "url", Allowed: "any", Meaning: "Where."},
	}}}
	const begin, end = "<!-- settings: written by make generate -->\n", "<!-- end of settings -->\n"
	want := "before\n" + begin + "\n### Checks\n\nWhat they do.\n\n" +
		"| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n| `checks` | `Disabled` | a\\|b | Checks. |\n| `url` |  | any | Where. |\n\n" + end + "after\n"
	page := filepath.Join(t.TempDir(), "page.md")
	for _, before := range []string{"before\n" + begin + "old\n" + end + "after\n", want} {
		g.Expect(os.WriteFile(page, []byte(before), 0o600)).To(Succeed())
		filled, err := section(page, "settings", tables(groups))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(filled)).To(Equal(want))
	}
	g.Expect(os.WriteFile(page, []byte("before\nafter\n"), 0o600)).To(Succeed())
	_, err := section(page, "settings", "")
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
