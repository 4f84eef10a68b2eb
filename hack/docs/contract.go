// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

const rulesFile = "docs/contract.yaml"

// contract is one of Cluster API's contracts, with its page in the book.
type contract struct {
	Name  string `json:"name"`
	Page  string `json:"page"`
	Rules []rule `json:"rules"`
}

// rule has names by file in Code and Tests. Unproven says what the tests do not show.
type rule struct {
	Name      string              `json:"name"`
	Title     string              `json:"title"`
	Anchor    string              `json:"anchor"`
	Mandatory string              `json:"mandatory"`
	NotNeeded string              `json:"notNeeded,omitempty"`
	Unproven  string              `json:"unproven,omitempty"`
	Met       string              `json:"met,omitempty"`
	Code      map[string][]string `json:"code,omitempty"`
	Tests     map[string][]string `json:"tests,omitempty"`
}

func (r rule) Proven() bool {
	return r.NotNeeded == "" && r.Unproven == "" && len(r.Code) > 0 && len(r.Tests) > 0
}

// proven counts the rules that are proven and mandatory to this degree.
func proven(rules []rule, mandatory string) int {
	count := 0
	for _, r := range rules {
		if r.Proven() && strings.HasPrefix(r.Mandatory, mandatory) {
			count++
		}
	}
	return count
}

// contractPage returns the page of the contracts.
func contractPage(root string, rules []byte) ([]byte, error) {
	contracts, err := readRules(root, rules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rulesFile, err)
	}
	return render("contract", contracts)
}

// readRules reads the rules and checks that everything they name exists below root.
func readRules(root string, rules []byte) ([]contract, error) {
	var contracts []contract
	if err := yaml.UnmarshalStrict(rules, &contracts); err != nil {
		return nil, err
	}
	var problems []error
	for _, c := range contracts {
		for _, r := range c.Rules {
			for _, places := range []map[string][]string{r.Code, r.Tests} {
				for file, names := range places {
					problems = append(problems, check(root, c.Name+"/"+r.Name, file, names))
				}
			}
		}
	}
	return contracts, errors.Join(problems...)
}

func check(root, rule, file string, names []string) error {
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return fmt.Errorf("%s: %w", rule, err)
	}
	for _, name := range names {
		// Methods and fields are named with their type, which may be declared in another file.
		own := name
		if strings.HasSuffix(file, ".go") && !strings.Contains(name, " ") {
			own = name[strings.LastIndex(name, ".")+1:]
		}
		if !regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(own) + `(\W|$)`).Match(content) {
			return fmt.Errorf("%s: %s does not have %q", rule, file, name)
		}
	}
	return nil
}
