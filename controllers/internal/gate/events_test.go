// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

func TestBesidesStatus(t *testing.T) {
	for name, test := range map[string]struct {
		change func(pod *corev1.Pod)
		want   bool
	}{
		"status":      {func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }, false},
		"generation":  {func(pod *corev1.Pod) { pod.Generation++ }, true},
		"labels":      {func(pod *corev1.Pod) { pod.Labels = map[string]string{"a": "b"} }, true},
		"annotations": {func(pod *corev1.Pod) { pod.Annotations = map[string]string{"a": "b"} }, true},
		"finalizers":  {func(pod *corev1.Pod) { pod.Finalizers = []string{"a"} }, true},
		"owners":      {func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{{Name: "a"}} }, true},
		"resync":      {func(pod *corev1.Pod) { pod.ResourceVersion = "1" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: 1, ResourceVersion: "1"}}
			after := before.DeepCopy()
			after.ResourceVersion = "2"
			test.change(after)
			g.Expect(BesidesStatus().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(test.want))
		})
	}
}

// The event of the Paused condition that a controller has just set makes the controller continue.
func TestBesidesStatusPassesThePausedCondition(t *testing.T) {
	g := NewWithT(t)
	before := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Generation: 1, ResourceVersion: "1"}}
	set := func(status metav1.ConditionStatus, generation int64) *clusterv1.Machine {
		after := before.DeepCopy()
		after.ResourceVersion, after.Generation = "2", generation
		conditions.Set(after, metav1.Condition{Type: clusterv1.PausedCondition, Status: status, Reason: "Test"})
		after.Generation = 1
		return after
	}
	running := set(metav1.ConditionFalse, 1)
	passes := func(before, after *clusterv1.Machine) bool {
		return BesidesStatus().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g.Expect(passes(before, running)).To(BeTrue())
	g.Expect(passes(running, set(metav1.ConditionTrue, 1))).To(BeTrue())
	again := set(metav1.ConditionFalse, 2)
	again.ResourceVersion = "3"
	g.Expect(passes(running, again)).To(BeFalse(), "only its observedGeneration changed")
}
