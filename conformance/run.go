// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"
)

// Run checks a provider in a test, with one subtest for each rule, and returns the report.
func Run(t *testing.T, options Options) *Report {
	t.Helper()
	report, err := Check(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		t.Run(string(result.Level)+"/"+result.Rule, func(t *testing.T) { report.judge(t, result) })
	}
	return report
}

func (r *Report) judge(t *testing.T, result Result) {
	t.Helper()
	switch result.Status {
	case Passed:
	case Unfinished:
		t.Error(result.Reason)
	case Failed, Warned:
		rule, err := Find(result.Rule)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range result.Findings {
			t.Logf("%s: %s", finding.Place(), finding.Message)
		}
		t.Logf("%s\n%s\nfix: %s", rule.Sentence, rule.URL, rule.Fix)
		if r.Breaks(result) {
			t.Fail()
		}
	default:
		t.Skip(strings.TrimSpace(string(result.Status) + " " + result.Reason))
	}
}
