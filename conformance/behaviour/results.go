// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// results collects what the scenarios see. Several scenarios may check the same rule.
type results struct {
	lock  sync.Mutex
	rules map[string]*outcome
}

// outcome is what is known of one rule, by version of the contract.
type outcome struct {
	passed   map[string]bool
	reasons  map[string]string
	errors   map[string]string
	versions map[string][]string
}

func (r *results) outcome(rule string) *outcome {
	if r.rules == nil {
		r.rules = map[string]*outcome{}
	}
	if r.rules[rule] == nil {
		r.rules[rule] = &outcome{passed: map[string]bool{}, reasons: map[string]string{}, errors: map[string]string{}, versions: map[string][]string{}}
	}
	return r.rules[rule]
}

// checked records that a rule was checked; it was broken if there is a problem.
func (r *results) checked(rule, contract, object string, problem error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	o := r.outcome(rule)
	if problem == nil {
		o.passed[contract] = true
		return
	}
	message := object + ": " + problem.Error()
	if !slices.Contains(o.versions[message], contract) {
		o.versions[message] = append(o.versions[message], contract)
	}
}

// notRun records that a rule could not be checked. It has no effect if the rule was or will be
// checked.
func (r *results) notRun(rule, contract, reason string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if o := r.outcome(rule); o.reasons[contract] == "" {
		o.reasons[contract] = reason
	}
}

// unfinished records that a scenario ended with an error before it checked a rule. Then the rule counts
// as unfinished, even if other scenarios have found nothing wrong.
func (r *results) unfinished(rule, contract, reason string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if o := r.outcome(rule); o.errors[contract] == "" {
		o.errors[contract] = reason
	}
}

// list returns the results of all rules that were recorded. A rule that was checked in some of the
// contracts only counts as not run.
func (r *results) list(contracts []string) []conformance.Result {
	r.lock.Lock()
	defer r.lock.Unlock()
	all := make([]conformance.Result, 0, len(r.rules))
	for _, rule := range slices.Sorted(maps.Keys(r.rules)) {
		all = append(all, r.rules[rule].result(rule, contracts))
	}
	return all
}

func (o *outcome) result(rule string, contracts []string) conformance.Result {
	result := conformance.Result{Rule: rule, Level: conformance.Behaviour, Status: conformance.Passed}
	broken := map[string]bool{}
	for _, message := range slices.Sorted(maps.Keys(o.versions)) {
		object, text, _ := strings.Cut(message, ": ")
		versions := slices.Sorted(slices.Values(o.versions[message]))
		result.Findings = append(result.Findings, conformance.Finding{Object: object, Versions: versions, Message: text})
		for _, version := range versions {
			broken[version] = true
		}
	}
	var reasons []string
	ended := false
	for _, contract := range contracts {
		switch {
		case broken[contract]:
			result.Versions = append(result.Versions, contract)
		case o.errors[contract] != "":
			ended = true
			reasons = append(reasons, contract+": "+o.errors[contract])
		case o.passed[contract]:
			result.Versions = append(result.Versions, contract)
		case o.reasons[contract] != "":
			reasons = append(reasons, contract+": "+o.reasons[contract])
		}
	}
	switch {
	case len(broken) > 0:
		result.Status = conformance.Failed
	case ended:
		result.Status = conformance.Unfinished
	case len(reasons) > 0:
		result.Status = conformance.NotRun
	}
	result.Reason = strings.Join(reasons, "; ")
	return result
}
