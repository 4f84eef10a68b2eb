// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

//go:embed report.md.tmpl
var markdownPage string

// row is a rule with its results by level.
type row struct {
	conformance.Rule
	Results map[conformance.Level]conformance.Result
}

// Markdown writes a page with a table for each contract, without rules that do not apply. It names
// the rules that only levels without results check.
func Markdown(out io.Writer, report *conformance.Report) error {
	type group struct {
		Contract string
		Rows     []row
	}
	rules, err := conformance.Rules()
	if err != nil {
		return err
	}
	var groups []group
	for _, rule := range rules {
		r := row{Rule: rule, Results: map[conformance.Level]conformance.Result{}}
		for _, result := range report.Results {
			if result.Rule == rule.ID && result.Status != conformance.NotApplicable {
				r.Results[result.Level] = result
			}
		}
		if len(r.Results) == 0 {
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Contract != rule.Contract {
			groups = append(groups, group{Contract: rule.Contract})
		}
		last := &groups[len(groups)-1]
		last.Rows = append(last.Rows, r)
	}
	page, err := template.New("report").Funcs(template.FuncMap{"cell": conformance.Cell, "join": strings.Join, "state": state}).Parse(markdownPage)
	if err != nil {
		return err
	}
	return page.Execute(out, map[string]any{"Report": report, "Groups": groups, "Unchecked": unchecked(rules, report)})
}

// unchecked returns the IDs of the rules that none of the report's levels checks.
func unchecked(rules []conformance.Rule, report *conformance.Report) []string {
	run := map[conformance.Level]bool{}
	for _, result := range report.Results {
		run[result.Level] = true
	}
	var ids []string
	for _, rule := range rules {
		if !slices.ContainsFunc(rule.Levels, func(level conformance.Level) bool { return run[level] }) {
			ids = append(ids, rule.ID)
		}
	}
	return ids
}

var states = map[conformance.Status]string{
	conformance.Passed: "passed", conformance.Failed: "**failed**", conformance.Warned: "*not followed*", conformance.NotClaimed: "not claimed",
	conformance.NotRun: "not run", conformance.Skipped: "skipped", conformance.Unfinished: "**unfinished**",
}

// state returns the cell for a level, with a space before it. It names the versions of the contract
// that the rule was checked in, if these are not all of the report.
func state(report *conformance.Report, r row, level string) string {
	result, ok := r.Results[conformance.Level(level)]
	switch {
	case !ok:
		return ""
	case result.Status == conformance.NotRun || len(result.Versions) == 0 || slices.Equal(result.Versions, report.Contracts):
		return " " + states[result.Status]
	default:
		return fmt.Sprintf(" %s (%s)", states[result.Status], strings.Join(result.Versions, ", "))
	}
}

// Badge writes what shields.io shows as a badge: how many of the mandatory rules that apply are met.
// A rule counts at each level of the report, and one that was not run is not met. The badge is red
// if a rule is broken.
func Badge(out io.Writer, report *conformance.Report) error {
	met, all, broken := 0, 0, false
	for _, result := range report.Results {
		rule, err := conformance.Find(result.Rule)
		if err != nil {
			return err
		}
		if !rule.Mandatory || slices.Contains([]conformance.Status{conformance.NotClaimed, conformance.NotApplicable}, result.Status) {
			continue
		}
		all++
		if result.Status == conformance.Passed {
			met++
		}
		broken = broken || result.Status == conformance.Failed
	}
	color := "brightgreen"
	switch {
	case broken:
		color = "red"
	case met < all:
		color = "yellow"
	}
	return json.NewEncoder(out).Encode(map[string]any{
		"schemaVersion": 1, "label": "CAPI " + strings.Join(report.Contracts, ", "), "message": fmt.Sprintf("%d of %d mandatory rules", met, all), "color": color,
	})
}
