// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// SkipAnnotation on a Cluster lists hooks, separated by commas, that no longer block and do nothing
// more. It is the way out if what a hook waits for will never happen. Users set and remove it.
const SkipAnnotation = "foo.cluster.x-k8s.io/skip-hooks"

// SkippedHooks returns the names in the skip annotation of a Cluster, including those that are not
// hooks.
func SkippedHooks(cluster *clusterv1.Cluster) []string {
	var names []string
	for name := range strings.SplitSeq(cluster.Annotations[SkipAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Skips reports whether the skip annotation of a Cluster names a hook, and returns a message that
// says so.
func Skips(cluster *clusterv1.Cluster, hook string) (string, bool) {
	if !slices.Contains(SkippedHooks(cluster), hook) {
		return "", false
	}
	return fmt.Sprintf("skipped: the annotation %s names %s", SkipAnnotation, hook), true
}

// verdict is what happens to an unfinished job, given the current state of its Cluster. Cluster API
// need not call a hook again to withdraw its request.
type verdict struct {
	// due means that the task of the job must run now.
	due bool
	// note is recorded if the job is not due. If it is nil, the record stays as it is.
	note *Outcome
}

// judge returns the verdict on a job. It leaves the job alone if the Cluster is paused, for example
// during a move, or if it is another Cluster with the same name.
func (w *worker) judge(job Job, cluster *clusterv1.Cluster) verdict {
	if cluster.UID != job.UID && cluster.UID != job.owner || ptr.Deref(cluster.Spec.Paused, false) {
		return verdict{}
	}
	// The Cluster was moved here with its jobs: clusterctl updates the UIDs of owners, and
	// nothing else.
	if cluster.UID != job.UID && !slices.Contains(w.once, job.Hook) {
		return verdict{note: &Outcome{Done: true, Message: "nothing is done: the Cluster was moved here, and its hooks are called again"}}
	}
	if message, ok := Skips(cluster, job.Hook); ok {
		return verdict{note: &Outcome{Done: true, Message: message}}
	}
	// If the hook is still about this step, its next call brings the plan for the other
	// version.
	if len(job.Plan) > 0 && !slices.Contains(job.Plan, cluster.Spec.Topology.Version) {
		return verdict{note: &Outcome{Message: fmt.Sprintf(
			"nothing is done: the topology has version %s, which this upgrade does not lead to", cluster.Spec.Topology.Version)}}
	}
	return verdict{due: true}
}

// differs reports whether a Cluster changed in anything that the verdict on its jobs may depend on,
// except being paused.
func differs(before, after *clusterv1.Cluster) bool {
	return before.Annotations[SkipAnnotation] != after.Annotations[SkipAnnotation] ||
		before.Spec.Topology.Version != after.Spec.Topology.Version
}
