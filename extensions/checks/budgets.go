// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// drainsPossible finds disruption budgets that would currently block the drain of workers.
func drainsPossible(seen observation, _ hooks.Job) []string {
	var workers []string
	for _, n := range seen.nodes {
		if !n.controlPlane {
			workers = append(workers, n.name)
		}
	}
	var found []string
	for _, budget := range seen.budgets {
		blocked := 0
		for i := range budget.pods {
			if slices.Contains(workers, budget.pods[i].Spec.NodeName) && budget.blocks(&budget.pods[i]) {
				blocked++
			}
		}
		if blocked > 0 {
			found = append(found, fmt.Sprintf("PodDisruptionBudget %s/%s allows no disruption, which blocks the drain of %d of its pods on workers", budget.Namespace, budget.Name, blocked))
		}
	}
	return found
}

// full reports whether a budget allows no disruption of its pods.
func full(budget *policyv1.PodDisruptionBudget) bool {
	return budget.Status.DisruptionsAllowed == 0 && budget.Status.ExpectedPods > 0
}

// blocks reports whether a drain would evict the pod and the budget would not allow it.
func (b budget) blocks(pod *corev1.Pod) bool {
	if !full(&b.PodDisruptionBudget) || !drained(pod) {
		return false
	}
	if ready(pod.Status.Conditions) || pod.Status.Phase != corev1.PodRunning {
		// The eviction API evicts a pending pod without checking the budget.
		return pod.Status.Phase != corev1.PodPending
	}
	if b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow {
		return false
	}
	healthy := b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
	return !healthy
}

// drained reports whether a drain evicts a pod at all. It does not evict pods that have ended or
// are being deleted, or that a DaemonSet or the kubelet would recreate on the same node.
func drained(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || !pod.DeletionTimestamp.IsZero() {
		return false
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	owner := metav1.GetControllerOf(pod)
	return owner == nil || owner.Kind != "DaemonSet"
}

func ready(conditions []corev1.PodCondition) bool {
	return slices.ContainsFunc(conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}
