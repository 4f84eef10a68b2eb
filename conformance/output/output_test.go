// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package output_test

import (
	"bytes"
	"encoding/xml"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/output"
)

var report = &conformance.Report{
	APIVersion: conformance.ReportAPIVersion, Kind: conformance.ReportKind, Contracts: []string{"v1beta2"},
	Implementation: conformance.Implementation{Name: "infrastructure-demo", Version: "v0.1.0"},
	Results: []conformance.Result{
		{Rule: "infrastructure-cluster/scope", Level: conformance.Lint, Status: conformance.Failed, Findings: []conformance.Finding{
			{Object: "CustomResourceDefinition demos", File: "a,b.yaml", Line: 3, Message: "100% <wrong>\nand more: a, b"},
		}},
		{Rule: "infrastructure-cluster/category", Level: conformance.Lint, Status: conformance.Warned, Findings: []conformance.Finding{{File: "c.yaml", Message: "none"}}},
		{Rule: "infrastructure-cluster/template", Level: conformance.Lint, Status: conformance.Passed},
		{Rule: "infrastructure-cluster/deletion", Level: conformance.Behaviour, Status: conformance.NotRun},
	},
}

func write(g *WithT, name string, strict bool) string {
	format, err := output.ByName(name)
	g.Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	own := *report
	own.Strict = strict
	g.Expect(format(&out, &own)).To(Succeed())
	return out.String()
}

func TestText(t *testing.T) {
	g := NewWithT(t)
	g.Expect(write(g, "text", false)).To(And(
		ContainSubstring("error infrastructure-cluster/scope\n  a,b.yaml:3 CustomResourceDefinition demos: 100% <wrong>"),
		ContainSubstring("warning infrastructure-cluster/category\n  c.yaml: none"),
		ContainSubstring("  fix:      Set spec.scope"),
		HaveSuffix("infrastructure-demo v0.1.0, contract v1beta2: 1 passed, 1 failed, 1 warned, 1 notRun\n"),
	))
}

// TestUnfinished checks that no format hides a check that could not be finished.
func TestUnfinished(t *testing.T) {
	ended := &conformance.Report{Results: []conformance.Result{
		{Rule: "infrastructure-cluster/deletion", Level: conformance.Behaviour, Status: conformance.Unfinished, Reason: "the scenario ended early"},
		{Rule: "infrastructure-cluster/pausing", Level: conformance.Behaviour, Status: conformance.Failed, Findings: []conformance.Finding{{Object: "DemoCluster", Message: "wrong"}}},
	}}
	for name, want := range map[string]string{
		"text": "unfinished infrastructure-cluster/deletion\n  the scenario ended early\n", "yaml": "status: unfinished",
		"junit":  `<failure message="the check could not be finished">the scenario ended early</failure>`,
		"github": "::error title=infrastructure-cluster/deletion::the scenario ended early\n::error title=infrastructure-cluster/pausing::DemoCluster wrong\n",
		"html":   `<td class="unfinished">unfinished</td>`, "markdown": "**unfinished**", "badge": `"0 of 1 mandatory rules"`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			format, err := output.ByName(name)
			g.Expect(err).NotTo(HaveOccurred())
			var out bytes.Buffer
			g.Expect(format(&out, ended)).To(Succeed())
			g.Expect(out.String()).To(ContainSubstring(want))
		})
	}
	NewWithT(t).Expect(ended.Broken()).To(HaveLen(2))
}

// A run that ends early may know neither the provider nor a version of the contracts.
func TestSummaryAboutNothing(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(output.Text(&out, &conformance.Report{Results: []conformance.Result{{Rule: "infrastructure-cluster/deletion", Status: conformance.NotRun}}})).To(Succeed())
	g.Expect(out.String()).To(Equal("1 notRun\n"))
}

func TestYAML(t *testing.T) {
	g := NewWithT(t)
	read := &conformance.Report{}
	g.Expect(yaml.UnmarshalStrict([]byte(write(g, "yaml", false)), read)).To(Succeed())
	g.Expect(read).To(Equal(report))
}

func TestJUnit(t *testing.T) {
	for strict, failures := range map[bool]int{false: 1, true: 2} {
		g := NewWithT(t)
		var suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
			} `xml:"testcase"`
		}
		g.Expect(xml.Unmarshal([]byte(write(g, "junit", strict)), &suite)).To(Succeed())
		g.Expect(suite.Tests).To(Equal(4))
		g.Expect(suite.Failures).To(Equal(failures))
		g.Expect(suite.Skipped).To(Equal(1))
		g.Expect(suite.Cases[0].Name).To(Equal("infrastructure-cluster/scope"))
		g.Expect(suite.Cases[0].Failure).To(HaveValue(ContainSubstring("100% <wrong>")))
	}
}

func TestGitHub(t *testing.T) {
	g := NewWithT(t)
	g.Expect(write(g, "github", false)).To(Equal(
		"::error file=a%2Cb.yaml,line=3,title=infrastructure-cluster/scope::CustomResourceDefinition demos 100%25 <wrong>%0Aand more: a, b\n" +
			"::warning file=c.yaml,line=1,title=infrastructure-cluster/category::none\n"))
	g.Expect(write(g, "github", true)).To(ContainSubstring("::error file=c.yaml"))
}

func TestHTML(t *testing.T) {
	g := NewWithT(t)
	g.Expect(write(g, "html", false)).To(And(
		ContainSubstring("100% &lt;wrong&gt;"), ContainSubstring(`<td class="notRun">notRun</td>`),
		ContainSubstring(`href="https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#all-resources-scope"`)))
}

func TestMarkdown(t *testing.T) {
	g := NewWithT(t)
	page := write(g, "markdown", false)
	g.Expect(page).To(And(
		HavePrefix("# Cluster API conformance: infrastructure-demo v0.1.0\n"),
		ContainSubstring("| [`infrastructure-cluster/scope`](https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#all-resources-scope) | must | **failed** | | |"),
		ContainSubstring("| [`infrastructure-cluster/deletion`](https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#typical-infracluster-reconciliation-workflow) | must | | not run | |"),
		ContainSubstring("`a,b.yaml:3 CustomResourceDefinition demos`: 100% \\<wrong> and more: a, b"),
	))
	g.Expect(page).To(MatchRegexp("(?m)^Not checked, since no level of this run can: .*`clusterctl/move`, "))
	g.Expect(page).NotTo(ContainSubstring("infrastructure-cluster/pausing"), "nothing is said about rules that the report does not have")
}

func TestBadge(t *testing.T) {
	g := NewWithT(t)
	g.Expect(write(g, "badge", false)).To(MatchJSON(`{"schemaVersion": 1, "label": "CAPI v1beta2", "message": "0 of 2 mandatory rules", "color": "red"}`))
}

func TestBadgeColor(t *testing.T) {
	for status, color := range map[conformance.Status]string{
		conformance.Passed: "brightgreen", conformance.NotRun: "yellow", conformance.Skipped: "yellow", conformance.Failed: "red",
	} {
		g := NewWithT(t)
		var out bytes.Buffer
		g.Expect(output.Badge(&out, &conformance.Report{Results: []conformance.Result{{Rule: "infrastructure-cluster/scope", Status: status}}})).To(Succeed())
		g.Expect(out.String()).To(ContainSubstring(`"color":"`+color+`"`), string(status))
	}
}

func TestVersionsOfOutcomes(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(output.Markdown(&out, &conformance.Report{Contracts: conformance.Versions, Results: []conformance.Result{
		{Rule: "infrastructure-cluster/scope", Level: conformance.Lint, Status: conformance.Passed, Versions: conformance.Versions},
		{Rule: "infrastructure-cluster/category", Level: conformance.Lint, Status: conformance.Passed, Versions: []string{"v1beta2"}},
		{Rule: "infrastructure-cluster/template", Level: conformance.Lint, Status: conformance.NotRun, Versions: []string{"v1beta2"}, Reason: "v1beta1: why"},
	}})).To(Succeed())
	g.Expect(out.String()).To(And(
		ContainSubstring("\n\nMeasured for the contracts v1beta1 and v1beta2 by"),
		MatchRegexp(`infrastructure-cluster/scope.*\| passed \|`), MatchRegexp(`infrastructure-cluster/category.*\| passed \(v1beta2\) \|`),
		MatchRegexp(`infrastructure-cluster/template.*\| not run \|`), ContainSubstring("\n- `infrastructure-cluster/template`: v1beta1: why\n"),
	))
}

func TestUnknownFormat(t *testing.T) {
	_, err := output.ByName("pdf")
	NewWithT(t).Expect(err).To(MatchError(`format "pdf" is unknown; allowed: badge, github, html, junit, markdown, text, yaml`))
}
