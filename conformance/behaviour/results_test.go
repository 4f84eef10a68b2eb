// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// What one scenario finds says nothing about another one that has ended early.
func TestSeveralScenariosOfOneRule(t *testing.T) {
	const rule, contract = "bootstrap/pausing", "v1beta2"
	steps := map[string]func(*results){
		"passed":     func(r *results) { r.checked(rule, contract, "Demo", nil) },
		"failed":     func(r *results) { r.checked(rule, contract, "Demo", errors.New("wrong")) },
		"unfinished": func(r *results) { r.unfinished(rule, contract, "it ended early") },
		"notRun":     func(r *results) { r.notRun(rule, contract, "it did not get there") },
	}
	for name, test := range map[string]struct {
		one, other string
		want       conformance.Status
	}{
		"one ends early":          {"passed", "unfinished", conformance.Unfinished},
		"one fails":               {"failed", "unfinished", conformance.Failed},
		"one does not get there":  {"passed", "notRun", conformance.Passed},
		"neither gets there":      {"notRun", "unfinished", conformance.Unfinished},
		"one fails, one succeeds": {"passed", "failed", conformance.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][2]string{{test.one, test.other}, {test.other, test.one}} {
				r := &results{}
				steps[order[0]](r)
				steps[order[1]](r)
				NewWithT(t).Expect(r.list([]string{contract})).To(HaveExactElements(HaveField("Status", test.want)))
			}
		})
	}
}
