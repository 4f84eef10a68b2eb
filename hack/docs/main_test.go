// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"text/template"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestPagesAreCurrent(t *testing.T) {
	t.Chdir("../..")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want, err := page(name)
			g.Expect(err).NotTo(HaveOccurred())
			content, err := os.ReadFile(filepath.Join("docs", name))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(content)).To(Equal(string(want)), "run make generate")
		})
	}
}

func TestInsert(t *testing.T) {
	g := NewWithT(t)
	const text = "<!-- begin -->\n\n| new |\n\n<!-- end -->\n"
	for _, before := range []string{"<!-- begin -->\nold\n<!-- end -->\n", "<!-- begin -->\n<!-- end -->\n", text} {
		filled, err := insert("before\n"+before+"after\n", text)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(filled)).To(Equal("before\n" + text + "after\n"))
	}
	for _, page := range []string{"before\nafter\n", "<!-- end -->\n<!-- begin -->\nafter\n"} {
		_, err := insert(page, text)
		g.Expect(err).To(MatchError(ContainSubstring("lacks the lines")))
	}
}

// Values with vertical bars and settings without a default do not change the columns of a table.
func TestSettings(t *testing.T) {
	g := NewWithT(t)
	var text bytes.Buffer
	layout, err := pages.Clone()
	g.Expect(err).NotTo(HaveOccurred())
	layout.Funcs(template.FuncMap{"settings": func() []hooks.Group {
		return []hooks.Group{{Title: "Checks", About: "What they do.", Settings: []hooks.Setting{
			{Name: "checks", Default: "Disabled", Allowed: "a|b", Meaning: "Checks."}, {Name: "url", Allowed: "any", Meaning: "Where."},
		}}}
	}})
	g.Expect(layout.ExecuteTemplate(&text, "runtime-extension.md.tmpl", nil)).To(Succeed())
	g.Expect(text.String()).To(Equal("<!-- settings: written by make generate -->\n\n### Checks\n\nWhat they do.\n\n" +
		"| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n| `checks` | `Disabled` | a\\|b | Checks. |\n| `url` |  | any | Where. |\n\n" +
		"<!-- end of settings -->\n"))
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
