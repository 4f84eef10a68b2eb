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

// SkipAnnotation of a Cluster names hooks, with commas between, that are let go without doing anything more. It is the way out
// when what a hook waits for will not come, and is for people to set and to remove.
const SkipAnnotation = "foo.cluster.x-k8s.io/skip-hooks"

// SkippedHooks returns what the annotation of a Cluster names, whether there is such a hook or not.
func SkippedHooks(cluster *clusterv1.Cluster) []string {
	var names []string
	for name := range strings.SplitSeq(cluster.Annotations[SkipAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Skips reports whether the annotation of a Cluster names a hook, and says so in a message.
func Skips(cluster *clusterv1.Cluster, hook string) (string, bool) {
	if !slices.Contains(SkippedHooks(cluster), hook) {
		return "", false
	}
	return fmt.Sprintf("skipped: the annotation %s names %s", SkipAnnotation, hook), true
}

// verdict is what becomes of a job that is not done, by its Cluster as it is now. Cluster API need not call a hook again to say
// that it no longer wants anything of it.
type verdict struct {
	// due says that its task is to be run now.
	due bool
	// note is to be written down of one that is not; nil leaves what is written as it is.
	note *Outcome
}

// judge returns the verdict on a job. A paused Cluster, as while it is moved, and another one of the same name are left alone.
func (w *worker) judge(job Job, cluster *clusterv1.Cluster) verdict {
	if cluster.UID != job.UID && cluster.UID != job.owner || ptr.Deref(cluster.Spec.Paused, false) {
		return verdict{}
	}
	// The Cluster was moved here with its jobs: clusterctl brings the UIDs of owners up to date, and nothing else.
	if cluster.UID != job.UID && !slices.Contains(w.once, job.Hook) {
		return verdict{note: &Outcome{Done: true, Message: "nothing is done: the Cluster was moved here, where its hooks are called anew"}}
	}
	if message, ok := Skips(cluster, job.Hook); ok {
		return verdict{note: &Outcome{Done: true, Message: message}}
	}
	// The hook's next call has the plan to another version, if it is still about this step then.
	if len(job.Plan) > 0 && !slices.Contains(job.Plan, cluster.Spec.Topology.Version) {
		return verdict{note: &Outcome{Message: fmt.Sprintf(
			"nothing is done: the topology has version %s, which this upgrade does not lead to", cluster.Spec.Topology.Version)}}
	}
	return verdict{due: true}
}

// differs reports whether a Cluster has changed in anything that the verdict on its jobs may depend on, but for being paused.
func differs(before, after *clusterv1.Cluster) bool {
	return before.Annotations[SkipAnnotation] != after.Annotations[SkipAnnotation] ||
		before.Spec.Topology.Version != after.Spec.Topology.Version
}
