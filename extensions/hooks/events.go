// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/v1alpha1/extension"
)

// announce emits an event on a job and on its Cluster if the job waits for something else than
// before, or is completed, and counts the latter. The Cluster's event outlives the job.
func (w *worker) announce(before, after *extensionv1.HookJob, cluster *clusterv1.Cluster) {
	condition := meta.FindStatusCondition(after.Status.Conditions, extensionv1.HookJobCompletedCondition)
	if after.IsCompleted() {
		w.ended.WithLabelValues(after.Spec.Hook, condition.Reason).Inc()
	}
	if condition.Reason == extensionv1.HookJobRestingReason || condition.Message == messageOf(before) && after.IsCompleted() == before.IsCompleted() {
		return
	}
	kind := corev1.EventTypeNormal
	if condition.Reason == extensionv1.HookJobIncompleteReason {
		kind = corev1.EventTypeWarning
	}
	note := tidy(after.Spec.Hook + ": " + condition.Message)
	for object, related := range map[runtime.Object]runtime.Object{cluster: after, after: cluster} {
		w.recorder.Eventf(object, related, kind, "Hook"+condition.Reason, after.Spec.Hook, "%s", note)
	}
}
