// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Status is the outcome of a rule.
type Status string

// The outcomes.
const (
	Passed        Status = "passed"
	Failed        Status = "failed"        // a mandatory rule is broken
	Warned        Status = "warned"        // a recommendation is not followed
	NotClaimed    Status = "notClaimed"    // the provider does not have the feature
	NotApplicable Status = "notApplicable" // the provider has nothing that the rule is about
	NotRun        Status = "notRun"        // nothing checked the rule
	Unfinished    Status = "unfinished"    // the check began, and something else went wrong
	Skipped       Status = "skipped"       // the options say why the rule does not count
)

// Finding is one place that breaks a rule.
type Finding struct {
	// Object is what breaks the rule, such as CustomResourceDefinition foos.example.com.
	Object string `json:"object,omitempty"`
	// File and Line are where the object begins. The line counts from 1.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Versions are the versions of the contract in which it breaks the rule.
	Versions []string `json:"versions,omitempty"`
	// Message says what is wrong, and what is allowed.
	Message string `json:"message"`
}

// Result is the outcome of one rule at one level.
type Result struct {
	Rule   string `json:"rule"`
	Level  Level  `json:"level"`
	Status Status `json:"status"`
	// Versions are the versions of the contract that were checked.
	Versions []string  `json:"versions,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// Implementation names what was checked.
type Implementation struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	URL     string `json:"url,omitempty"`
}

// Profile counts the outcomes of the rules of one contract that have one status: core rules are
// mandatory for every provider, extended ones where a feature is claimed.
type Profile struct {
	Contract string         `json:"contract"`
	Name     string         `json:"name"`
	Statuses map[Status]int `json:"statuses"`
}

// Report is the outcome of a run.
type Report struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Implementation Implementation `json:"implementation"`
	Suite          string         `json:"suite"`
	Date           string         `json:"date,omitempty"`
	// Contracts are the versions of the contracts that were checked.
	Contracts []string  `json:"contracts"`
	Profiles  []Profile `json:"profiles"`
	Results   []Result  `json:"results"`
	// Strict means that a recommendation that is not followed counts like a broken rule.
	Strict bool `json:"strict,omitempty"`
	// Reproduce is the command that gives the same report.
	Reproduce string `json:"reproduce,omitempty"`
}

// The type of a written Report.
const (
	ReportAPIVersion = "capi-conformance.foo/v1alpha1"
	ReportKind       = "ConformanceReport"
)

// Checker checks a provider at one level.
type Checker interface {
	// Level is the level that the checker covers.
	Level() Level
	// Check returns results for the rules that it could check in the given versions of the contracts;
	// without versions, in those that the provider claims. Check adds the rules that are missing.
	Check(ctx context.Context, versions []string) ([]Result, error)
}

// Options are how to check a provider.
type Options struct {
	Implementation Implementation
	// Checkers are what checks it.
	Checkers []Checker
	// Contracts are the versions to check. Empty means those that the provider claims.
	Contracts []string
	// Strict makes a recommendation that is not followed count as a failure.
	Strict bool
	// Skip has the IDs of rules that do not count, with the reason.
	Skip map[string]string
	// Suite is the version of the suite, and Reproduce the command, for the report.
	Suite, Reproduce string
}

// Check runs the checkers and returns the report.
func Check(ctx context.Context, options Options) (*Report, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	report := &Report{
		APIVersion: ReportAPIVersion, Kind: ReportKind, Implementation: options.Implementation,
		Suite: options.Suite, Strict: options.Strict, Date: time.Now().UTC().Format(time.DateOnly), Reproduce: options.Reproduce,
	}
	for _, checker := range options.Checkers {
		results, err := checker.Check(ctx, options.Contracts)
		if err != nil {
			return nil, err
		}
		report.Results = append(report.Results, complete(rules, checker.Level(), results, options)...)
	}
	for _, result := range report.Results {
		report.Contracts = append(report.Contracts, result.Versions...)
	}
	slices.Sort(report.Contracts)
	report.Contracts = slices.Compact(report.Contracts)
	report.Profiles = profiles(rules, report.Results)
	return report, nil
}

// Validate returns an error if the options name a version or a rule that does not exist.
func (o Options) Validate() error {
	for _, version := range o.Contracts {
		if !slices.Contains(Versions, version) {
			return fmt.Errorf("contract version %q is unknown; allowed: %s", version, strings.Join(Versions, ", "))
		}
	}
	for id, reason := range o.Skip {
		if _, err := Find(id); err != nil {
			return fmt.Errorf("skip: %w", err)
		}
		if reason == "" {
			return fmt.Errorf("skip %s: say why, as in %s=REASON", id, id)
		}
	}
	return nil
}

// complete returns a result for each rule of the level, in the order of the rules.
func complete(rules []Rule, level Level, results []Result, options Options) []Result {
	found := map[string]Result{}
	for _, result := range results {
		found[result.Rule] = result
	}
	var all []Result
	for _, rule := range rules {
		if !rule.At(level) {
			continue
		}
		result, ok := found[rule.ID]
		if !ok {
			result.Status, result.Reason = NotRun, "nothing in this run checks it"
		}
		result.Rule, result.Level = rule.ID, level
		if reason := options.Skip[rule.ID]; reason != "" {
			result.Status, result.Reason = Skipped, reason
		} else if result.Status == Failed && !rule.Mandatory {
			result.Status = Warned
		}
		all = append(all, result)
	}
	return all
}

func profiles(rules []Rule, results []Result) []Profile {
	names := map[string]string{}
	for _, rule := range rules {
		names[rule.ID] = "core"
		if !rule.Mandatory || rule.Feature != "" {
			names[rule.ID] = "extended"
		}
	}
	var all []Profile
	for _, result := range results {
		contract, _, _ := strings.Cut(result.Rule, "/")
		index := slices.IndexFunc(all, func(p Profile) bool { return p.Contract == contract && p.Name == names[result.Rule] })
		if index < 0 {
			index = len(all)
			all = append(all, Profile{Contract: contract, Name: names[result.Rule], Statuses: map[Status]int{}})
		}
		all[index].Statuses[result.Status]++
	}
	return all
}

// Merge returns one report of several about the same implementation, as of its lint and of its
// behaviour. Of several results for a rule and level, the last counts.
func Merge(reports ...*Report) (*Report, error) {
	if len(reports) == 0 {
		return nil, errors.New("there is no report to merge")
	}
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	merged := *reports[0]
	merged.Results, merged.Contracts = nil, nil
	var commands []string
	for _, report := range reports {
		if report.Implementation != merged.Implementation {
			return nil, fmt.Errorf("the reports are about %v and %v; want one implementation", merged.Implementation, report.Implementation)
		}
		merged.Strict = merged.Strict || report.Strict
		merged.Date = max(merged.Date, report.Date)
		commands = append(commands, report.Reproduce)
		merged.Contracts = append(merged.Contracts, report.Contracts...)
		for _, result := range report.Results {
			merged.Results = slices.DeleteFunc(merged.Results, func(r Result) bool { return r.Rule == result.Rule && r.Level == result.Level })
			merged.Results = append(merged.Results, result)
		}
	}
	slices.Sort(merged.Contracts)
	merged.Contracts = slices.Compact(merged.Contracts)
	merged.Reproduce = strings.Join(slices.Compact(commands), "\n")
	merged.Profiles = profiles(rules, merged.Results)
	return &merged, nil
}

// Breaks reports whether a result makes the run fail: a broken rule, or a check that could not be
// finished.
func (r *Report) Breaks(result Result) bool {
	return result.Status == Failed || result.Status == Unfinished || r.Strict && result.Status == Warned
}

// Broken returns the results that make the run fail.
func (r *Report) Broken() []Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(result Result) bool { return !r.Breaks(result) })
}

// Place says where a finding is.
func (f Finding) Place() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, f.Line)
	}
	return strings.TrimSpace(place + " " + f.Object)
}
