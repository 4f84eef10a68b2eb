// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lint checks the manifests of a provider against the rules of Cluster API's contracts.
//
// It reads a file, a folder, a clusterctl repository, an OCI layout or a management cluster as
// releases of providers, decides which contract each CRD is about, and calls a small function for
// each rule. Limits: it reads manifests as they are, so kustomizations must be built first.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// Linter is a conformance.Checker of manifests.
type Linter struct {
	// Releases are what is checked; see Load and LoadCluster.
	Releases []*Release
}

var _ conformance.Checker = &Linter{}

// Level returns conformance.Lint.
func (l *Linter) Level() conformance.Level { return conformance.Lint }

// Check checks all releases, several rules at once.
func (l *Linter) Check(_ context.Context, versions []string) ([]conformance.Result, error) {
	rules, err := conformance.Rules()
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		versions = l.claimed()
	} else if err := l.unlabelled(versions); err != nil {
		return nil, err
	}
	rules = slices.DeleteFunc(rules, func(rule conformance.Rule) bool { return rule.Lint == nil })
	results, errs := make([]conformance.Result, len(rules)), make([]error, len(rules))
	inParallel(len(rules), func(i int) { results[i], errs[i] = l.check(rules[i], versions) })
	return results, errors.Join(errs...)
}

// claimed returns the versions of the contracts that the CRDs or the metadata name. Without any,
// the newest version counts.
func (l *Linter) claimed() []string {
	var versions []string
	for _, version := range conformance.Versions {
		if slices.ContainsFunc(l.Releases, func(r *Release) bool { return r.claims(version) }) {
			versions = append(versions, version)
		}
	}
	if len(versions) == 0 {
		versions = conformance.Versions[len(conformance.Versions)-1:]
	}
	return versions
}

// unlabelled returns an error if a version is wanted that no CRD is labelled with, although others
// are: nothing of it would be checked.
func (l *Linter) unlabelled(wanted []string) error {
	labelled := map[string]bool{}
	for _, release := range l.Releases {
		for _, crd := range release.definitions {
			for _, version := range conformance.Versions {
				labelled[version] = labelled[version] || crd.Contract != "" && crd.Labels[contractPrefix+version] != ""
			}
		}
	}
	var have []string
	for _, version := range conformance.Versions {
		if labelled[version] {
			have = append(have, version)
		}
	}
	for _, version := range wanted {
		if len(have) > 0 && !labelled[version] {
			return fmt.Errorf("no CRD has the label %s%s, so nothing of this version can be checked; the CRDs have labels of %s",
				contractPrefix, version, strings.Join(have, " and "))
		}
	}
	return nil
}

// outcome collects what the checks of one rule say.
type outcome struct {
	applied, claimed bool
	versions         []string
	findings         []conformance.Finding
}

func (o *outcome) add(version string, subjects []subject) {
	for _, s := range subjects {
		o.applied = true
		if s.notClaimed {
			continue
		}
		o.claimed = true
		o.versions = append(o.versions, version)
		for _, message := range s.messages {
			o.report(version, s.object, message)
		}
	}
}

// report adds a finding, or the version to the finding that says the same.
func (o *outcome) report(version string, object Object, message string) {
	finding := conformance.Finding{Object: object.name(), Message: message, Versions: []string{version}}
	if object.File != nil {
		finding.File, finding.Line = object.File.Path, object.Line
	}
	index := slices.IndexFunc(o.findings, func(known conformance.Finding) bool {
		return known.File == finding.File && known.Line == finding.Line && known.Object == finding.Object && known.Message == message
	})
	if index < 0 {
		o.findings = append(o.findings, finding)
	} else if known := &o.findings[index]; !slices.Contains(known.Versions, version) {
		known.Versions = append(known.Versions, version)
	}
}

func (o *outcome) status() conformance.Status {
	switch {
	case len(o.findings) > 0:
		return conformance.Failed
	case o.claimed:
		return conformance.Passed
	case o.applied:
		return conformance.NotClaimed
	default:
		return conformance.NotApplicable
	}
}

// subject is one thing that a rule was applied to, with what is wrong with it.
type subject struct {
	object     Object
	messages   []string
	notClaimed bool
}

func (l *Linter) check(rule conformance.Rule, versions []string) (conformance.Result, error) {
	o := &outcome{}
	for _, version := range rule.Versions {
		if !slices.Contains(versions, version) {
			continue
		}
		for _, release := range l.Releases {
			subjects, err := release.check(rule, version)
			if err != nil {
				return conformance.Result{}, fmt.Errorf("rule %s: %w", rule.ID, err)
			}
			o.add(version, subjects)
		}
	}
	slices.Sort(o.versions)
	slices.SortStableFunc(o.findings, func(a, b conformance.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return conformance.Result{Rule: rule.ID, Status: o.status(), Versions: slices.Compact(o.versions), Findings: o.findings}, nil
}

// check applies the rule to the release.
func (r *Release) check(rule conformance.Rule, version string) ([]subject, error) {
	name := cmp.Or(rule.Lint.Check, "fields")
	if check, ok := releaseChecks[name]; ok {
		return check(r), nil
	}
	check, ok := crdChecks[name]
	if !ok {
		return nil, fmt.Errorf("check %q is unknown", name)
	}
	var subjects []subject
	for _, crd := range r.crds(rule.Contract, cmp.Or(rule.Lint.Target, "kind")) {
		scope, ok := r.in(crd, version)
		if !ok {
			continue
		}
		scope.rule = rule
		if can := judgeable[name]; can != nil && !can(scope) {
			continue
		}
		s := subject{object: crd.Object}
		if claim := rule.Lint.Claim; len(claim) > 0 && !slices.ContainsFunc(claim, scope.has) {
			s.notClaimed = true
		} else {
			s.messages = check(scope)
		}
		subjects = append(subjects, s)
	}
	return subjects, nil
}
