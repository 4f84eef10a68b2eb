// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs_test checks the pages at the root, in docs/ and in examples/ against the sources:
// links and their headings are not broken, the make targets and repository files that pages name
// exist, docs/README.md links every page, and docs/layout.md names every folder. The packages of foo
// and foocloud check the commands.
//
// Limits: it does not check whether what a page says about them is true.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// sources is the root folder, as seen from here.
const sources = ".."

var (
	// fenced is a block of code.
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	// called is a call of make in code with its targets, up to the first word that is not a target.
	called = regexp.MustCompile("(?m)(?:^|&& )make((?: [a-z][a-z0-9-]*)+)")
	// target is a line of the Makefile that defines a target.
	target = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
	// link is a link to a file, to one of its headings, or to a heading of the same page.
	link = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^):]*))?\)`)
	// heading is a heading of a page.
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	// ignored are the characters of a heading that are not in its anchor.
	ignored = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	// quoted is inline code in a sentence.
	quoted = regexp.MustCompile("`([^`\n]+)`")
	// path is a file or folder in one of the repository's folders.
	path = regexp.MustCompile(`^(?:api|bench|cloud|cmd|config|controllers|docs|extensions|hack|internal|node|packaging|templates|test|webhooks)(?:/[A-Za-z0-9_.-]+)+/?$`)
	// ended is a file at the root.
	ended = regexp.MustCompile(`^[A-Za-z0-9_.-]+\.(?:go|sum|mod)$`)
)

func pages(t *testing.T) map[string]string {
	t.Helper()
	g := NewWithT(t)
	texts := map[string]string{}
	for _, folder := range []string{"", "docs", "docs/commands", "docs/conformance", "examples"} {
		found, err := filepath.Glob(filepath.Join(sources, folder, "*.md"))
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range found {
			text, err := os.ReadFile(name)
			g.Expect(err).NotTo(HaveOccurred())
			texts[name] = string(text)
		}
	}
	g.Expect(len(texts)).To(BeNumerically(">=", 10))
	return texts
}

func TestTargetsOfMakeAreThere(t *testing.T) {
	g := NewWithT(t)
	makefile, err := os.ReadFile(filepath.Join(sources, "Makefile"))
	g.Expect(err).NotTo(HaveOccurred())
	known := map[string]bool{}
	for _, one := range target.FindAllStringSubmatch(string(makefile), -1) {
		known[one[1]] = true
	}
	g.Expect(known).To(And(HaveKey("release"), HaveKey("test-unit")))
	checked := 0
	for name, text := range pages(t) {
		code := fenced.FindAllString(text, -1)
		for _, one := range quoted.FindAllStringSubmatch(text, -1) {
			code = append(code, one[1])
		}
		for _, call := range called.FindAllStringSubmatch(strings.Join(code, "\n"), -1) {
			for _, one := range strings.Fields(call[1]) {
				checked++
				g.Expect(known).To(HaveKey(one), "%s: make %s", name, one)
			}
		}
	}
	g.Expect(checked).To(BeNumerically(">", 15))
}

func TestLinksLeadSomewhere(t *testing.T) {
	g := NewWithT(t)
	checked := 0
	all := pages(t)
	for name, text := range all {
		for _, one := range link.FindAllStringSubmatch(quoted.ReplaceAllString(text, ""), -1) {
			checked++
			to := name
			if one[1] != "" {
				to = filepath.Join(filepath.Dir(name), one[1])
			}
			g.Expect(to).To(BeAnExistingFile(), name)
			if one[2] != "" {
				g.Expect(all).To(HaveKey(to), "%s: %s", name, one[0])
				g.Expect(anchors(all[to])).To(ContainElement(one[2]), "%s: %s", name, one[0])
			}
		}
	}
	g.Expect(checked).To(BeNumerically(">", 15))
}

// anchors returns what GitHub calls the headings of a page in links.
func anchors(text string) []string {
	var names []string
	for _, one := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		names = append(names, strings.ReplaceAll(ignored.ReplaceAllString(strings.ToLower(one[1]), ""), " ", "-"))
	}
	return names
}

func TestIndexLinksEveryPage(t *testing.T) {
	g := NewWithT(t)
	index := filepath.Join(sources, "docs", "README.md")
	all := pages(t)
	linked := map[string]int{}
	for _, one := range link.FindAllStringSubmatch(all[index], -1) {
		linked[filepath.Join(filepath.Dir(index), one[1])]++
	}
	for name := range all {
		if name != index && filepath.Dir(name) != sources {
			g.Expect(linked).To(HaveKeyWithValue(name, 1), "docs/README.md has one line for each page")
		}
	}
}

func TestNamedFilesAreThere(t *testing.T) {
	g := NewWithT(t)
	ofFork := 0
	for name, text := range pages(t) {
		for _, one := range quoted.FindAllStringSubmatch(text, -1) {
			if !path.MatchString(one[1]) && !ended.MatchString(one[1]) {
				continue
			}
			g.Expect(filepath.Join(sources, one[1])).To(Or(BeAnExistingFile(), BeADirectory()), name)
			if filepath.Base(name) == "fork.md" {
				ofFork++
			}
		}
	}
	g.Expect(ofFork).To(BeNumerically(">", 35), "paths of the guide for forks")
}

var (
	// folder is a row of docs/layout.md.
	folder = regexp.MustCompile("(?m)^\\| `([a-z0-9/-]+)` \\|")
	// unversioned are folders that Git does not track.
	unversioned = regexp.MustCompile(`^(?:\.|bin$|out$)`)
)

func TestLayoutNamesEveryFolder(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile(filepath.Join(sources, "docs", "layout.md"))
	g.Expect(err).NotTo(HaveOccurred())
	var named []string
	for _, row := range folder.FindAllStringSubmatch(string(text), -1) {
		named = append(named, row[1])
	}
	wanted := folders(t, "")
	for _, parent := range []string{"api", "cloud", "cmd", "controllers", "extensions", "internal", "node", "templates", "test", "webhooks"} {
		wanted = append(wanted, folders(t, parent)...)
	}
	g.Expect(named).To(ConsistOf(wanted), "one row for each folder")
}

// folders returns the folders in a folder of the repository.
func folders(t *testing.T, parent string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(sources, parent))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, entry := range entries {
		if name := filepath.Join(parent, entry.Name()); entry.IsDir() && !unversioned.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}
