// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// shown is how many problems a message names.
	shown = 5
	// kindWait is when to look again for a kind whose CRD was just applied.
	kindWait = time.Second
)

// tally collects what the outcome says about the add-ons.
type tally struct {
	report strings.Builder
	// applied are the names of the add-ons that are applied, with this number of objects.
	applied []string
	objects int
	// problems keep the job from being done, notes do not.
	problems, notes []string
}

// outcome returns the progress of the job.
func (p *pass) outcome() hooks.Outcome {
	var sum tally
	if p.failure != "" {
		sum.problems = append(sum.problems, p.failure)
	}
	for i := range p.contents {
		sum.add(&p.contents[i])
	}
	if len(sum.problems) > 0 {
		outcome := hooks.Outcome{Message: "add-ons are not applied yet: " + hooks.Join(sum.problems, shown), Report: sum.report.String()}
		if p.awaitsKind() {
			outcome.RetryAfter = kindWait
		}
		return outcome
	}
	if len(sum.applied) > 0 {
		sum.notes = append([]string{fmt.Sprintf("applied %d objects of the add-ons %s", sum.objects, strings.Join(sum.applied, ", "))}, sum.notes...)
	}
	return hooks.Outcome{Done: true, Message: strings.Join(sum.notes, "; "), Report: sum.report.String()}
}

// add adds an add-on.
func (t *tally) add(one *content) {
	name := one.addon.Name
	for _, result := range one.results {
		fmt.Fprintln(&t.report, result.line(name))
	}
	switch {
	case one.problem != "":
		t.problems = append(t.problems, name+": "+one.problem)
		fmt.Fprintf(&t.report, "%s: %s\n", name, one.problem)
	case one.missing:
		t.notes = append(t.notes, fmt.Sprintf("%s has no variant for %s", name, one.version))
		fmt.Fprintf(&t.report, "%s: no variant for %s\n", name, one.version)
	default:
		t.applied, t.objects = append(t.applied, name), t.objects+len(one.objects)
		if later := one.deferred(); len(later) > 0 {
			t.notes = append(t.notes, "after the step: "+hooks.Join(later, shown))
		}
	}
}

// awaitsKind reports whether an object waits for a CRD that an add-on has just applied.
func (p *pass) awaitsKind() bool {
	for _, one := range p.contents {
		for _, result := range one.results {
			if result.state == unknownKind && p.defines(result.object.GroupVersionKind().GroupKind()) {
				return true
			}
		}
	}
	return false
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
func (c *content) progress(cluster *clusterv1.Cluster, failure string) extensionv1.AddonCluster {
	entry := entryOf(c.addon, cluster)
	entry.State, entry.Message, entry.Hash = extensionv1.AddonWaiting, cmp.Or(c.problem, failure), ""
	entry.KubernetesVersion = cmp.Or(c.version, entry.KubernetesVersion)
	switch {
	case c.missing:
		entry.State, entry.Message = extensionv1.AddonNoVariant, ""
	case c.done:
		entry.State, entry.Message, entry.Hash = extensionv1.AddonApplied, "", c.hash
		if names := c.deferred(); len(names) > 0 {
			entry.Message = "applied after the step: " + strings.Join(names, ", ")
		}
	}
	return entry
}
