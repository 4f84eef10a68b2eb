// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestRulesAreComplete(t *testing.T) {
	rules, err := conformance.Rules()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	seen := map[string]bool{}
	for _, rule := range rules {
		t.Run(rule.ID, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(seen).NotTo(HaveKey(rule.ID))
			seen[rule.ID] = true
			g.Expect(rule.ID).To(MatchRegexp(`^[a-z-]+/[a-z-]+$`))
			g.Expect(rule.URL).To(MatchRegexp(`^https://cluster-api\.sigs\.k8s\.io/[a-z/-]+#[a-z0-9-]+$`))
			for _, text := range []string{rule.Sentence, rule.Impact, rule.Fix} {
				g.Expect(text).To(And(Not(BeEmpty()), Not(ContainSubstring("{Kind}")), Not(ContainSubstring("{kind}"))))
			}
			g.Expect(rule.Versions).To(And(Not(BeEmpty()), HaveEach(BeElementOf(conformance.Versions))))
			g.Expect(rule.Levels).NotTo(BeEmpty())
			if rule.Lint != nil && rule.Lint.Check == "" {
				for _, version := range rule.Versions {
					g.Expect(rule.Lint.Fields).To(HaveKey(version))
				}
				g.Expect(rule.Lint.Fields).To(HaveLen(len(rule.Versions)))
			}
		})
	}
}

// A common rule is mandatory only where the contract's page has it.
func TestRulesThatAPageDoesNotHave(t *testing.T) {
	for id, mandatory := range map[string]bool{
		"infrastructure-machine/deletion":            true,
		"control-plane/deletion-unowned":             true,
		"bootstrap/waits-for-owner":                  true,
		"bootstrap/deletion":                         false,
		"bootstrap/deletion-unowned":                 false,
		"infrastructure-machinepool/waits-for-owner": false,
		"infrastructure-machinepool/deletion":        false,
	} {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			rule, err := conformance.Find(id)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rule.Mandatory).To(Equal(mandatory))
			g.Expect(strings.HasPrefix(rule.Sentence, "Only the pages of other kinds say so: ")).To(Equal(!mandatory))
		})
	}
}

// These rules are as strict as the page says. clusterctl's page calls it a recommendation to have no links to external
// objects, and demands all components that the provider needs.
func TestLevelsOfRules(t *testing.T) {
	for id, mandatory := range map[string]bool{
		"clusterctl/binding-subjects":           true,
		"clusterctl/service-account":            true,
		"clusterctl/webhook-service":            true,
		"clusterctl/webhook-ca":                 true,
		"clusterctl/role-refs":                  false,
		"clusterctl/certificate-issuer":         false,
		"clusterctl/certificate-mount":          false,
		"clusterctl/template-references":        true,
		"control-plane/lost-status":             false,
		"infrastructure-machine/lost-status":    false,
		"control-plane/user-certificates":       false,
		"control-plane/metadata-propagation":    true,
		"control-plane/infrastructure-metadata": false,
	} {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			rule, err := conformance.Find(id)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rule.Mandatory).To(Equal(mandatory))
		})
	}
}

func TestThePageOfTheRulesIsCurrent(t *testing.T) {
	g := NewWithT(t)
	rules, err := conformance.Rules()
	g.Expect(err).NotTo(HaveOccurred())
	var page bytes.Buffer
	g.Expect(conformance.WriteRules(&page, rules)).To(Succeed())
	written, err := os.ReadFile("docs/rules.md")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(page.String()).To(Equal(string(written)), "write it with: go run ./cmd/capi-conformance rules --markdown > docs/rules.md")
}

func TestFindNamesSimilarRules(t *testing.T) {
	g := NewWithT(t)
	_, err := conformance.Find("controlplane/kubeconfig")
	g.Expect(err).To(MatchError(ContainSubstring("similar: control-plane/kubeconfig")))
	_, err = conformance.Find("nonsense")
	g.Expect(err).To(MatchError(ContainSubstring("capi-conformance rules")))
}

// fixed answers with the same results every time.
type fixed []conformance.Result

func (fixed) Level() conformance.Level { return conformance.Lint }

func (f fixed) Check(context.Context, []string) ([]conformance.Result, error) { return f, nil }

func TestCheck(t *testing.T) {
	g := NewWithT(t)
	finding := []conformance.Finding{{Message: "wrong"}}
	options := conformance.Options{
		Checkers: []conformance.Checker{fixed{
			{Rule: "control-plane/scope", Status: conformance.Failed, Versions: []string{"v1beta2"}, Findings: finding},
			{Rule: "control-plane/category", Status: conformance.Failed, Findings: finding},
			{Rule: "control-plane/scale", Status: conformance.Failed, Findings: finding},
			{Rule: "control-plane/template", Status: conformance.Passed},
		}},
		Skip: map[string]string{"control-plane/scale": "known"},
	}
	report, err := conformance.Check(t.Context(), options)
	g.Expect(err).NotTo(HaveOccurred())
	statuses := map[string]conformance.Status{}
	for _, result := range report.Results {
		statuses[result.Rule] = result.Status
	}
	g.Expect(statuses).To(And(
		HaveKeyWithValue("control-plane/scope", conformance.Failed),
		HaveKeyWithValue("control-plane/category", conformance.Warned),
		HaveKeyWithValue("control-plane/scale", conformance.Skipped),
		HaveKeyWithValue("control-plane/template", conformance.Passed),
		HaveKeyWithValue("control-plane/initialization", conformance.NotRun),
		Not(HaveKey("control-plane/kubeconfig")), // nothing of it can be read from manifests
	))
	g.Expect(report.Results).To(ContainElement(And(HaveField("Rule", "control-plane/initialization"), HaveField("Reason", Not(BeEmpty())))))
	g.Expect(report.Contracts).To(Equal([]string{"v1beta2"}))
	g.Expect(report.Date).To(MatchRegexp(regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).String()))
	g.Expect(report.Broken()).To(HaveLen(1))
	report.Strict = true
	g.Expect(report.Broken()).To(HaveLen(2))
	g.Expect(report.Profiles).To(ContainElement(And(HaveField("Contract", "control-plane"), HaveField("Name", "core"),
		HaveField("Statuses", HaveKeyWithValue(conformance.Failed, 1)))))
}

func TestCheckRefusesWrongOptions(t *testing.T) {
	for name, test := range map[string]struct {
		options conformance.Options
		want    string
	}{
		"version":       {conformance.Options{Contracts: []string{"v1"}}, "allowed: v1beta1, v1beta2"},
		"unknown rule":  {conformance.Options{Skip: map[string]string{"scope": "why"}}, "similar: bootstrap/scope"},
		"without cause": {conformance.Options{Skip: map[string]string{"bootstrap/scope": ""}}, "say why"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := conformance.Check(t.Context(), test.options)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}
