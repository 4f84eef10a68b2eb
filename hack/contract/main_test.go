// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestRulesAreComplete compares the table of rules with the documents of the Cluster API module in
// go.mod.
func TestRulesAreComplete(t *testing.T) {
	g := NewWithT(t)
	found, err := findModules(context.Background())
	g.Expect(err).NotTo(HaveOccurred())
	documents, err := readDocuments(filepath.Join(found.clusterAPI, filepath.FromSlash(documentFolder)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checkComplete(documents)).To(Succeed())

	for _, c := range contracts {
		for _, r := range c.rules {
			g.Expect(documents[c.name].anchors).To(HaveKey(strings.ToLower(r.title)), c.id(r))
		}
	}
}

func TestRuleIDsAreUnique(t *testing.T) {
	g := NewWithT(t)
	count := 0
	for _, c := range contracts {
		count += len(c.rules)
	}
	g.Expect(ruleIDs()).To(HaveLen(count))
}

func TestCheckCompleteNamesWhatDiffers(t *testing.T) {
	g := NewWithT(t)
	documents := map[string]document{}
	for _, c := range contracts {
		var rows []row
		for _, r := range c.rules {
			rows = append(rows, row{title: r.title})
		}
		documents[c.name] = document{rows: rows}
	}
	g.Expect(checkComplete(documents)).To(Succeed())

	changed := documents["infra-machine"]
	changed.rows = append(changed.rows[1:], row{title: "InfraMachine: coffee"})
	documents["infra-machine"] = changed
	err := checkComplete(documents)
	g.Expect(err).To(MatchError(ContainSubstring(`infra-machine/scope: developer/providers/contracts/infra-machine.md has no rule "All resources: scope"`)))
	g.Expect(err).To(MatchError(ContainSubstring(`contract infra-machine lacks the rule "InfraMachine: coffee"`)))
}

func TestParseDocument(t *testing.T) {
	g := NewWithT(t)
	parsed := parseDocument("# A contract\n" +
		"| [Elsewhere] | Yes | |\n" +
		tableHeading + "\n\n" +
		"| Rule | Mandatory | Note |\n|---|---|---|\n" +
		"| [All: `Kind` field] | Yes |  |\n" +
		"| [Thing: pausing] | No | Mandatory for  some. |\n" +
		"### All: `Kind` field\n" +
		"| [Later] | Yes | |\n" +
		"[All: `Kind` Field]: #all-kind-field \n")
	g.Expect(parsed.rows).To(Equal([]row{
		{title: "All: Kind field", mandatory: "Yes"},
		{title: "Thing: pausing", mandatory: "No", note: "Mandatory for  some."},
	}))
	g.Expect(parsed.anchors).To(Equal(map[string]string{"all: kind field": "all-kind-field"}))
}

func TestParseSections(t *testing.T) {
	g := NewWithT(t)
	parsed := parseSections("# A contract\n\nIntroduction.\n" +
		"## Things\n\n" +
		"### The `YAML` file\n\nIt MUST be there.\n<aside>\nMUST\n</aside>\n" +
		"#### Names & more\n\n```bash\n## no heading\n```\n##### Deeper\nThis too.\n" +
		"## Others\n\nThey may.\n" +
		"#### Names & more\nOf others.\n")
	g.Expect(parsed.rows).To(Equal([]row{
		{title: "The YAML file", mandatory: "Yes"},
		{title: "The YAML file: Names & more", mandatory: "No"},
		{title: "Others", mandatory: "No"},
		{title: "Others: Names & more", mandatory: "No"},
	}))
	g.Expect(parsed.anchors).To(HaveKeyWithValue("others: names & more", "names--more-1"))
	g.Expect(parsed.anchors).To(HaveKeyWithValue("the yaml file: names & more", "names--more"))
}

func TestWriteAndCompare(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "contract.md")
	g.Expect(compare(path, []byte("new"))).To(MatchError(os.ErrNotExist))
	g.Expect(write(path, []byte("new"))).To(Succeed())
	g.Expect(compare(path, []byte("new"))).To(Succeed())
	g.Expect(compare(path, []byte("newer"))).To(MatchError(ContainSubstring("is stale: run `make generate`")))
}

func TestRender(t *testing.T) {
	g := NewWithT(t)
	documents := map[string]document{"control-plane": {
		rows: []row{
			{title: "All resources: scope", mandatory: "Yes"},
			{title: "ControlPlane: pausing", mandatory: "No", note: "Mandatory for some."},
		},
		anchors: map[string]string{"all resources: scope": "all-scope"},
	}}
	found := evidence{
		code: map[string][]place{"control-plane/scope": {{path: "api/a.go", name: "A"}, {path: "api/a.go", name: "B"}}},
		tests: map[string][]place{
			"control-plane/scope":   {{path: "api/a_test.go", name: "is a|b"}},
			"control-plane/pausing": {{path: "api/a_test.go", name: "pauses"}},
		},
	}
	text := string(render("v1.2.3", documents, found))
	g.Expect(text).To(ContainSubstring("Cluster API v1.2.3"))
	g.Expect(text).To(ContainSubstring("| [control-plane](#control-plane) | 22 | 1 | 1 | 1 | 1 |"))
	g.Expect(text).To(ContainSubstring("| [All resources: scope](" + bookAddress + "developer/providers/contracts/control-plane#all-scope) | `control-plane/scope` | yes | met | " +
		`[api/a.go](../api/a.go): A; B | [api/a_test.go](../api/a_test.go): is a\|b |`))
	g.Expect(text).To(ContainSubstring("`control-plane/pausing` | no: mandatory for some | **missing** | **missing** | [api/a_test.go]"))
	g.Expect(text).To(ContainSubstring("not needed: " + endpointByInfrastructure + " |  |  |"))
}
