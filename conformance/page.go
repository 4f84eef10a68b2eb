// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

//go:embed rules.md.tmpl
var rulesPage string

// WriteRules writes a page in Markdown about the rules.
func WriteRules(out io.Writer, rules []Rule) error {
	type group struct {
		Contract string
		Rules    []Rule
	}
	var groups []group
	for _, rule := range rules {
		if len(groups) == 0 || groups[len(groups)-1].Contract != rule.Contract {
			groups = append(groups, group{Contract: rule.Contract})
		}
		last := &groups[len(groups)-1]
		last.Rules = append(last.Rules, rule)
	}
	page, err := template.New("rules").Funcs(template.FuncMap{"cell": Cell}).Parse(rulesPage)
	if err != nil {
		return err
	}
	return page.Execute(out, map[string]any{"Count": len(rules), "Groups": groups})
}

// Cell makes a text fit into a cell of a table in Markdown, and shows angle brackets as they are.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", `\<`).Replace(text)
}
