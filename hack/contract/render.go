// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

const (
	bookAddress = "https://cluster-api.sigs.k8s.io/"
	missing     = "**missing**"
)

// render writes the document.
func render(version string, documents map[string]document, found evidence) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<!-- Written by hack/contract: run "make generate" instead of editing this file. -->

# How Foo meets the contracts of Cluster API

Each rule of the v1beta2 contracts of Cluster API %s, with the code that meets it and the tests that show it. A rule is
*met* when it has both; otherwise the table says what is missing. Code and tests name their rules themselves, in markers
and labels; see the [package comment of the generator](../hack/contract/doc.go).

Run the tests of one rule with, for example, `+"`ginkgo --label-filter='contract:control-plane.kubeconfig'`"+`.

`, version)
	renderSummary(&out, documents, found)
	for _, c := range contracts {
		renderContract(&out, c, documents[c.name], found)
	}
	return out.Bytes()
}

func renderSummary(out *bytes.Buffer, documents map[string]document, found evidence) {
	fmt.Fprintln(out, "| Contract | Rules | Met | Mandatory | Mandatory and met | Not needed |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|")
	for _, c := range contracts {
		var met, mandatory, mandatoryMet, excluded int
		for _, r := range c.rules {
			isMandatory := isMandatory(documents[c.name], r)
			isMet := found.meets(c.id(r))
			switch {
			case r.excluded != "":
				excluded++
			case isMet:
				met++
			}
			if isMandatory {
				mandatory++
			}
			if isMandatory && isMet {
				mandatoryMet++
			}
		}
		fmt.Fprintf(out, "| [%s](#%s) | %d | %d | %d | %d | %d |\n", c.name, c.name, len(c.rules), met, mandatory, mandatoryMet, excluded)
	}
}

func isMandatory(d document, r rule) bool {
	found, ok := d.row(r.title)
	return ok && found.mandatory == "Yes"
}

func (e evidence) meets(id string) bool { return len(e.code[id]) > 0 && len(e.tests[id]) > 0 }

func renderContract(out *bytes.Buffer, c contract, d document, found evidence) {
	fmt.Fprintf(out, "\n## %s\n\n", c.name)
	fmt.Fprintln(out, "| Rule | ID | Mandatory | State | Code | Tests |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|")
	for _, r := range c.rules {
		id := c.id(r)
		documented, _ := d.row(r.title)
		fmt.Fprintf(out, "| %s | `%s` | %s | %s | %s | %s |\n",
			titleLink(c, d, r), id, mandatoryText(documented), stateText(r, found.meets(id)),
			places(found.code[id], r), places(found.tests[id], r))
	}
}

func titleLink(c contract, d document, r rule) string {
	address := bookAddress + strings.TrimSuffix(c.document, ".md")
	if anchor := d.anchors[strings.ToLower(r.title)]; anchor != "" {
		address += "#" + anchor
	}
	return fmt.Sprintf("[%s](%s)", r.title, address)
}

func mandatoryText(r row) string {
	mandatory := strings.ToLower(r.mandatory)
	if r.note == "" {
		return mandatory
	}
	return mandatory + ": " + lowerFirst(strings.TrimSuffix(r.note, "."))
}

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }

func stateText(r rule, met bool) string {
	switch {
	case r.excluded != "":
		return "not needed: " + r.excluded
	case met:
		return cmp.Or(r.met, "met")
	default:
		return missing
	}
}

func places(found []place, r rule) string {
	if len(found) == 0 && r.excluded != "" {
		return ""
	}
	if len(found) == 0 {
		return missing
	}
	var texts []string
	for i, p := range found {
		if i > 0 && found[i-1].path == p.path {
			texts[len(texts)-1] += "; " + escape(p.name)
			continue
		}
		texts = append(texts, fmt.Sprintf("[%s](../%s): %s", p.path, p.path, escape(p.name)))
	}
	return strings.Join(texts, "<br>")
}

// escape prevents the name of a test from ending a table cell.
func escape(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
