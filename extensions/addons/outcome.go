// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"fmt"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// shown is how many problems a message names.
	shown = 5
	// kindWait is when to look again for an unknown kind. Its CRD is served soon after it was
	// applied.
	kindWait = time.Second
)

// findings is what a run found and did.
type findings struct {
	choice  choice
	version string
	// problems are the problems found when reading the chosen sources.
	problems []string
	results  []result
}

// outcome returns the progress of the add-ons.
func (f findings) outcome() hooks.Outcome {
	problems := append([]string{}, f.choice.problems...)
	problems = append(problems, f.problems...)
	onlyKinds := len(problems) == 0
	for _, one := range f.results {
		switch one.state {
		case applied, untried:
		case unanswered:
			problems = append(problems, fmt.Sprintf("the workload API server does not answer: %s", one.reason))
			onlyKinds = false
		case unknownKind, refused:
			problems = append(problems, fmt.Sprintf("%s: %s: %s", one.place(), one.object, one.reason))
			onlyKinds = onlyKinds && one.state == unknownKind
		}
	}
	if len(problems) == 0 {
		return hooks.Outcome{Done: true, Message: f.summary(), Report: f.report()}
	}
	outcome := hooks.Outcome{Message: "add-ons are not applied yet: " + hooks.Join(problems, shown), Report: f.report()}
	if onlyKinds {
		outcome.RetryAfter = kindWait
	}
	return outcome
}

// summary describes what was done.
func (f findings) summary() string {
	text := "no add-on applies to this Cluster now"
	if len(f.choice.chosen) > 0 {
		text = fmt.Sprintf("applied %d objects of the add-ons %s", len(f.results), strings.Join(f.addons(), ", "))
	}
	if len(f.choice.missing) > 0 {
		text += fmt.Sprintf("; there is no variant for %s of %s", f.version, strings.Join(f.choice.missing, ", "))
	}
	return text
}

func (f findings) addons() []string {
	list := make([]string, 0, len(f.choice.chosen))
	for _, chosen := range f.choice.chosen {
		list = append(list, chosen.addon)
	}
	return list
}

// report has a line for each object, in the order in which the objects are applied, and one for
// each add-on without a variant.
func (f findings) report() string {
	var lines strings.Builder
	for _, one := range f.results {
		fmt.Fprintf(&lines, "%s (%s): %s: %s\n", one.from.addon, one.place(), one.object, one.describe())
	}
	for _, addon := range f.choice.missing {
		fmt.Fprintf(&lines, "%s: no variant for %s\n", addon, f.version)
	}
	return lines.String()
}

func (r result) describe() string {
	switch r.state {
	case applied:
		return "applied"
	case unknownKind:
		return "waiting: " + r.reason
	case refused:
		return "refused: " + r.reason
	case unanswered:
		return "no answer: " + r.reason
	default:
		return "not tried yet"
	}
}
