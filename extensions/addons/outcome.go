// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/v1alpha1/extension"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// shown is how many problems a message names.
	shown = 5
	// kindWait is when to look again for a kind whose CRD was just applied.
	kindWait = time.Second
)

// outcome returns the progress of the job.
func (p *pass) outcome() hooks.Outcome {
	var report strings.Builder
	var names, problems, notes []string
	objects, soon := 0, false
	if p.failure != "" {
		problems = append(problems, p.failure)
	}
	for i := range p.contents {
		one := &p.contents[i]
		name := one.addon.Name
		for _, result := range one.results {
			fmt.Fprintln(&report, result.line(name))
			soon = soon || result.state == unknownKind && p.defines(result.object.GroupVersionKind().GroupKind())
		}
		switch {
		case one.problem != "":
			problems = append(problems, name+": "+one.problem)
			fmt.Fprintf(&report, "%s: %s\n", name, one.problem)
		case one.missing:
			notes = append(notes, fmt.Sprintf("%s has no variant for %s", name, one.version))
			fmt.Fprintf(&report, "%s: no variant for %s\n", name, one.version)
		default:
			names, objects = append(names, name), objects+len(one.objects)
			if later := one.deferred(); len(later) > 0 {
				notes = append(notes, fmt.Sprintf("after the step: %s", strings.Join(later, ", ")))
			}
		}
	}
	if len(problems) > 0 {
		outcome := hooks.Outcome{Message: "add-ons are not applied yet: " + hooks.Join(problems, shown), Report: report.String()}
		if soon {
			outcome.RetryAfter = kindWait
		}
		return outcome
	}
	if len(names) > 0 {
		notes = append([]string{fmt.Sprintf("applied %d objects of the add-ons %s", objects, strings.Join(names, ", "))}, notes...)
	}
	return hooks.Outcome{Done: true, Message: strings.Join(notes, "; "), Report: report.String()}
}

// line describes an object for the report.
func (r result) line(addon string) string {
	text := fmt.Sprintf("%s: %s: %s", addon, title(r.object), r.state)
	if r.reason != "" {
		text += ": " + r.reason
	}
	return text
}

// deferred returns the objects that are applied after the step.
func (c *content) deferred() []string {
	var names []string
	for _, result := range c.results {
		if result.state == deferred {
			names = append(names, title(result.object))
		}
	}
	return names
}

// progress returns the progress in a Cluster, for the status of the Addon.
func (c *content) progress(cluster, failure string) extensionv1.AddonCluster {
	entry := extensionv1.AddonCluster{
		Name: cluster, State: extensionv1.AddonWaiting, Message: oneLine(cmp.Or(c.problem, failure)),
		KubernetesVersion: cmp.Or(c.version, entryOf(c.addon, cluster).KubernetesVersion),
	}
	switch {
	case c.missing:
		entry.State, entry.Message = extensionv1.AddonNoVariant, ""
	case c.done:
		entry.State, entry.Message, entry.Hash = extensionv1.AddonApplied, "", c.hash
		if names := c.deferred(); len(names) > 0 {
			entry.Message = oneLine("applied after the step: " + strings.Join(names, ", "))
		}
	}
	return entry
}
