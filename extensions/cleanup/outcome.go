// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// shown is how many objects a message names.
	shown = 10
	// reported is the maximum number of lines in a report, which must be small enough to be
	// stored.
	reported = 1000
	// soon is when to look again after something was deleted.
	soon = time.Second
	// later is when to look again while others do their part, or if an API server does not
	// answer.
	later = 5 * time.Second
)

// outcome returns the progress of the clean-up. refused holds the objects that could not be
// deleted, with the reason.
func (p plan) outcome(job hooks.Job, refused map[ref]string) hooks.Outcome {
	if len(p.waits) == 0 && len(refused) == 0 {
		return hooks.Outcome{Done: true, Message: p.finished(), Report: report(p.stays)}
	}
	given, left, remaining := job.Settings.CleanUpTimeout, job.Left(job.Settings.CleanUpTimeout), p.remaining(refused)
	if left <= 0 {
		return hooks.Outcome{
			Done: true, Incomplete: true,
			Message: fmt.Sprintf("the clean-up did not finish within %s; these may be left over in the cloud: %s", given, hooks.Join(remaining, shown)),
			Report:  report(prefixed("left over: ", remaining), p.stays),
		}
	}
	wait := later
	if len(p.remove) > len(refused) {
		wait = soon
	}
	return hooks.Outcome{
		Message: "cleaning up until these are gone: " + hooks.Join(remaining, shown),
		Report:  report(prefixed("waiting: ", remaining), p.stays), RetryAfter: min(wait, left),
	}
}

func (p plan) finished() string {
	if len(p.stays) == 0 {
		return "no load balancers or volumes of the cluster are left"
	}
	return "no load balancers or volumes of the cluster are left, but: " + hooks.Join(p.stays, shown)
}

// remaining returns what must still be deleted, and why it is not, in order.
func (p plan) remaining(refused map[ref]string) []string {
	waits := slices.Clone(p.waits)
	// Objects in the way are named only if they cannot be deleted.
	for _, one := range p.remove {
		if _, ok := refused[one]; ok && !slices.ContainsFunc(waits, func(wait waiting) bool { return wait.ref == one }) {
			waits = append(waits, waiting{ref: one})
		}
	}
	list := make([]string, 0, len(waits))
	for _, one := range waits {
		if reason, ok := refused[one.ref]; ok {
			one.because = reason
		}
		list = append(list, one.String())
	}
	return list
}

func prefixed(prefix string, items []string) []string {
	list := make([]string, 0, len(items))
	for _, item := range items {
		list = append(list, prefix+item)
	}
	return list
}

// report returns the items as lines. If there are too many, it says how many more there are.
func report(lists ...[]string) string {
	var lines []string
	for _, list := range lists {
		lines = append(lines, list...)
	}
	if len(lines) > reported {
		lines = append(lines[:reported:reported], fmt.Sprintf("and %d more", len(lines)-reported))
	}
	return strings.Join(lines, "\n")
}
