// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs_test checks the README and the pages of docs/ against the sources: links are not
// broken, the make targets and repository files that pages name exist, and docs/layout.md names
// every folder.
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
	// link is a link to another file, optionally to one of its headings.
	link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
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
	found, err := filepath.Glob(filepath.Join(sources, "docs", "*.md"))
	g.Expect(err).NotTo(HaveOccurred())
	texts := map[string]string{}
	for _, name := range append(found, filepath.Join(sources, "README.md")) {
		text, err := os.ReadFile(name)
		g.Expect(err).NotTo(HaveOccurred())
		texts[name] = string(text)
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
	for name, text := range pages(t) {
		for _, one := range link.FindAllStringSubmatch(quoted.ReplaceAllString(text, ""), -1) {
			checked++
			g.Expect(filepath.Join(filepath.Dir(name), one[1])).To(BeAnExistingFile(), name)
		}
	}
	g.Expect(checked).To(BeNumerically(">", 15))
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
