// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestRulesAreComplete compares the rules with the contracts in the module of Cluster API that
// go.mod requires: none is missing, and each is as mandatory as the contract says.
func TestRulesAreComplete(t *testing.T) {
	g := NewWithT(t)
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(filepath.Join(root, rulesFile))
	g.Expect(err).NotTo(HaveOccurred())
	contracts, err := readRules(root, content)
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range contracts {
		t.Run(c.Name, func(t *testing.T) {
			g := NewWithT(t)
			content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "docs/book/src", c.Page+".md"))
			g.Expect(err).NotTo(HaveOccurred())
			documented := rulesOfTable(string(content))
			if len(documented) == 0 {
				documented = rulesOfSections(string(content))
			}
			names := map[string]bool{}
			rules := make([]string, 0, len(c.Rules))
			for _, r := range c.Rules {
				g.Expect(names).NotTo(HaveKey(r.Name))
				names[r.Name] = true
				rules = append(rules, line(r.Title, r.Anchor, r.Mandatory))
			}
			g.Expect(rules).To(ConsistOf(documented))
		})
	}
}

// line is what a contract says about a rule.
func line(title, anchor, mandatory string) string { return title + " #" + anchor + " " + mandatory }

var (
	rowPattern    = regexp.MustCompile(`(?m)^\|\s*\[(.+?)\]\s*\|\s*(Yes|No)\s*\|(.*)\|\s*$`)
	anchorPattern = regexp.MustCompile(`(?m)^\[(.+?)\]:\s*#(\S+)\s*$`)
	table         = regexp.MustCompile(`(?ms)^## Rules \(contract version v1beta2\)$(.*?)^#`)
)

// rulesOfTable reads the rules of a contract that has a table of them.
func rulesOfTable(text string) []string {
	anchors := map[string]string{}
	for _, found := range anchorPattern.FindAllStringSubmatch(text, -1) {
		// Markdown compares the names of links without case.
		anchors[strings.ToLower(plain(found[1]))] = found[2]
	}
	var rules []string
	for _, row := range rowPattern.FindAllStringSubmatch(table.FindString(text), -1) {
		mandatory, note := strings.ToLower(row[2]), strings.TrimSuffix(strings.TrimSpace(row[3]), ".")
		if note != "" {
			mandatory += ": " + strings.ToLower(note[:1]) + note[1:]
		}
		title := plain(row[1])
		rules = append(rules, line(title, anchors[strings.ToLower(title)], mandatory))
	}
	return rules
}

var (
	// asides are explanatory boxes, which set no rules.
	asides = regexp.MustCompile(`(?s)<aside.*?</aside>`)
	// Code may have lines that look like headings.
	fenced  = regexp.MustCompile("(?s)```.*?```")
	section = regexp.MustCompile(`(?m)^(#{2,4}) +(.+)$`)
	others  = regexp.MustCompile(`[^a-z0-9 -]`)
)

// rulesOfSections reads the rules of a contract without a table: each section with its own text is
// one. Titles such as "Variables" occur more than once, so they begin with the title of the
// enclosing section.
func rulesOfSections(text string) []string {
	text = fenced.ReplaceAllString(asides.ReplaceAllString(text, ""), "…")
	var rules []string
	var parent string
	anchors := map[string]int{}
	headings := section.FindAllStringSubmatchIndex(text, -1)
	for i, at := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		level, heading, body := text[at[2]:at[3]], text[at[4]:at[5]], text[at[1]:end]
		title := plain(heading)
		if len(level) < len("####") {
			parent = title
		} else {
			title = parent + ": " + title
		}
		anchor := strings.ReplaceAll(others.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
		count := anchors[anchor]
		anchors[anchor]++
		if count > 0 {
			anchor += "-" + strconv.Itoa(count)
		}
		if strings.TrimSpace(body) == "" {
			continue
		}
		mandatory := "no"
		if strings.Contains(body, "MUST") {
			mandatory = "yes"
		}
		rules = append(rules, line(title, anchor, mandatory))
	}
	return rules
}

// plain removes the backquotes from a title.
func plain(title string) string { return strings.ReplaceAll(title, "`", "") }
