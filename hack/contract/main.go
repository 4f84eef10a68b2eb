// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command contract writes docs/contract.md from docs/contract.yaml: each rule of Cluster API's
// provider contracts, with the code that follows it and the tests that prove it. It fails if a file
// or a name in the YAML file does not exist. Run it in the root folder.
//
// Limits: people decide what proves a rule, and write it into the YAML file.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

const (
	rulesFile = "docs/contract.yaml"
	pageFile  = "docs/contract.md"
)

// contract is one of Cluster API's contracts.
type contract struct {
	Name string `json:"name"`
	// Page is the path in Cluster API's book.
	Page  string `json:"page"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Anchor    string `json:"anchor"`
	Mandatory string `json:"mandatory"`
	// NotNeeded says why Foo does not need to follow the rule.
	NotNeeded string `json:"notNeeded,omitempty"`
	// Unproven says what the tests do not show.
	Unproven string `json:"unproven,omitempty"`
	// Met says how Foo follows the rule, if that needs an explanation.
	Met string `json:"met,omitempty"`
	// Code and Tests are names by file.
	Code  map[string][]string `json:"code,omitempty"`
	Tests map[string][]string `json:"tests,omitempty"`
}

// Proven reports whether code follows the rule and tests prove it.
func (r rule) Proven() bool {
	return r.NotNeeded == "" && r.Unproven == "" && len(r.Code) > 0 && len(r.Tests) > 0
}

//go:embed page.md.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	// A vertical bar would end the cell of a table.
	"names": func(names []string) string { return strings.ReplaceAll(strings.Join(names, "; "), "|", `\|`) },
	"proven": func(rules []rule, mandatory string) int {
		count := 0
		for _, r := range rules {
			if r.Proven() && strings.HasPrefix(r.Mandatory, mandatory) {
				count++
			}
		}
		return count
	},
}).Parse(pageText))

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	contracts, err := read(root)
	if err != nil {
		return fmt.Errorf("%s: %w", rulesFile, err)
	}
	file, err := os.Create(filepath.Join(root, pageFile))
	if err != nil {
		return err
	}
	return errors.Join(page.Execute(file, contracts), file.Close())
}

// read reads the rules and checks that everything they name exists.
func read(root string) ([]contract, error) {
	content, err := os.ReadFile(filepath.Join(root, rulesFile))
	if err != nil {
		return nil, err
	}
	var contracts []contract
	if err := yaml.UnmarshalStrict(content, &contracts); err != nil {
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
