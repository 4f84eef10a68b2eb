// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// Level is how a rule is checked.
type Level string

// The levels, from the cheapest.
const (
	Lint      Level = "lint"      // reads manifests
	Behaviour Level = "behaviour" // runs the provider's manager against a kube-apiserver
	Live      Level = "live"      // creates real clusters in a management cluster
)

// Versions are the versions of the contracts that the suite knows, the newest last.
var Versions = []string{"v1beta1", "v1beta2"}

// Rule is one rule of a contract.
type Rule struct {
	// ID is the contract and the name, such as control-plane/kubeconfig.
	ID string `json:"id"`
	// Contract is such as control-plane, clusterctl or runtime-extension.
	Contract string `json:"contract"`
	// Sentence is what the contract demands.
	Sentence string `json:"sentence"`
	// URL is where the contract says so.
	URL string `json:"url"`
	// Versions are the versions of the contract that have the rule.
	Versions []string `json:"versions"`
	// Mandatory rules make a provider fail. Others are recommendations.
	Mandatory bool `json:"mandatory"`
	// Feature is what a provider must claim for the rule to apply. Empty means every provider.
	Feature string `json:"feature,omitempty"`
	// Levels are how the rule is checked.
	Levels []Level `json:"levels"`
	// Impact is what users see if the rule is broken.
	Impact string `json:"impact"`
	// Fix is how to meet the rule.
	Fix string `json:"fix"`
	// Lint says how package lint checks the rule.
	Lint *LintSpec `json:"lint,omitempty"`
}

// LintSpec is how package lint checks a rule.
type LintSpec struct {
	// Target is "kind" (the default), "template" or "all": which of the contract's CRDs are checked.
	Target string `json:"target,omitempty"`
	// Check is a function of package lint. The default, "fields", compares the schema with Fields.
	Check string `json:"check,omitempty"`
	// Claim lists fields. A CRD that has none of them does not claim the rule's feature.
	Claim []string `json:"claim,omitempty"`
	// Fields are what the schema must have, by version of the contract.
	Fields map[string][]Field `json:"fields,omitempty"`
}

// Field is what the schema of a CRD says about a field.
type Field struct {
	// Path is such as status.failureDomains[].name. Paths separated by | are alternatives.
	Path string `json:"path"`
	// Type is the OpenAPI type. Empty allows any.
	Type string `json:"type,omitempty"`
	// Format is the OpenAPI format, such as date-time.
	Format string `json:"format,omitempty"`
	// Keys are the keys of a list of the type map.
	Keys []string `json:"keys,omitempty"`
	// Optional means that the object may be without the field, so no level may require it.
	Optional bool `json:"optional,omitempty"`
	// MayLack means that the schema may be without the field.
	MayLack bool `json:"mayLack,omitempty"`
	// Absent means that the schema must be without the field.
	Absent bool `json:"absent,omitempty"`
}

// At reports whether the rule is checked at the level.
func (r Rule) At(level Level) bool { return slices.Contains(r.Levels, level) }

//go:embed rules/*.yaml
var files embed.FS

// ruleFile is one contract's file. Common rules name the contracts that have them instead, and
// write {Kind}, {Template} and {kind} for the names on the contract's page.
type ruleFile struct {
	Contract string   `json:"contract,omitempty"`
	Page     string   `json:"page,omitempty"`
	Kind     string   `json:"kind,omitempty"`
	Common   []string `json:"common,omitempty"`
	// Workflow and TemplateDefinition are headings that the pages name differently.
	Workflow           string `json:"workflow,omitempty"`
	TemplateDefinition string `json:"templateDefinition,omitempty"`
	Rules              []struct {
		Rule   `json:",inline"`
		Name   string `json:"name"`
		Page   string `json:"page,omitempty"`
		Anchor string `json:"anchor"`
		// Unsaid has the contracts whose page does not have a common rule, so there it is a recommendation.
		Unsaid []string `json:"unsaid,omitempty"`
	} `json:"rules"`
}

const book = "https://cluster-api.sigs.k8s.io/"

// Rules returns all rules, by contract.
func Rules() ([]Rule, error) {
	rules, err := read()
	return slices.Clone(rules), err
}

var read = sync.OnceValues(func() ([]Rule, error) {
	entries, err := files.ReadDir("rules")
	if err != nil {
		return nil, err
	}
	contracts := map[string]ruleFile{}
	var parsed []ruleFile
	for _, entry := range entries {
		data, err := files.ReadFile("rules/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var file ruleFile
		if err := yaml.UnmarshalStrict(data, &file); err != nil {
			return nil, fmt.Errorf("rules/%s: %w", entry.Name(), err)
		}
		parsed = append(parsed, file)
		contracts[file.Contract] = file
	}
	var rules []Rule
	for _, file := range parsed {
		if len(file.Common) == 0 {
			rules = append(rules, expand(file, file)...)
		}
		for _, name := range file.Common {
			rules = append(rules, expand(file, contracts[name])...)
		}
	}
	slices.SortStableFunc(rules, func(a, b Rule) int { return strings.Compare(a.Contract, b.Contract) })
	return rules, nil
})

// expand returns the rules of a file as those of a contract.
func expand(file, contract ruleFile) []Rule {
	kind := strings.ToLower(contract.Kind)
	definition := contract.TemplateDefinition
	if definition == "" {
		definition = kind + "template-" + kind + "templatelist-resource-definition"
	}
	words := strings.NewReplacer("{Kind}", contract.Kind, "{kind}", kind, "{workflow}", contract.Workflow, "{templateDefinition}", definition)
	rules := make([]Rule, 0, len(file.Rules))
	for _, entry := range file.Rules {
		rule, page := entry.Rule, contract.Page
		if entry.Page != "" {
			page = entry.Page
		}
		rule.ID, rule.Contract = contract.Contract+"/"+entry.Name, contract.Contract
		rule.URL = book + page + "#" + words.Replace(entry.Anchor)
		rule.Sentence, rule.Impact, rule.Fix = words.Replace(rule.Sentence), words.Replace(rule.Impact), words.Replace(rule.Fix)
		if slices.Contains(entry.Unsaid, contract.Contract) {
			rule.Mandatory, rule.Sentence = false, "Only the pages of other kinds say so: "+rule.Sentence
		}
		if len(rule.Versions) == 0 {
			rule.Versions = Versions
		}
		if rule.Lint != nil {
			rule.Levels = append([]Level{Lint}, rule.Levels...)
		}
		rules = append(rules, rule)
	}
	return rules
}

// Find returns the rule with the ID. The error names similar IDs.
func Find(id string) (Rule, error) {
	rules, err := Rules()
	if err != nil {
		return Rule{}, err
	}
	var similar []string
	for _, rule := range rules {
		if rule.ID == id {
			return rule, nil
		}
		if strings.Contains(rule.ID, id[strings.LastIndex(id, "/")+1:]) {
			similar = append(similar, rule.ID)
		}
	}
	if len(similar) > 0 {
		return Rule{}, fmt.Errorf("there is no rule %q; similar: %s", id, strings.Join(similar, ", "))
	}
	return Rule{}, fmt.Errorf("there is no rule %q; `capi-conformance rules` lists them", id)
}
