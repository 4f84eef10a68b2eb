// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

func TestRollPhaseOf(t *testing.T) {
	machine := func(available metav1.ConditionStatus) clusterv1.Machine {
		var made clusterv1.Machine
		conditions.Set(&made, metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: available, Reason: "Some"})
		return made
	}
	deleted := func(reason string, annotations map[string]string) clusterv1.Machine {
		made := machine(metav1.ConditionFalse)
		made.DeletionTimestamp, made.Annotations = &metav1.Time{Time: time.Unix(1, 0)}, annotations
		conditions.Set(&made, metav1.Condition{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: reason})
		return made
	}
	hooked := map[string]string{clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/some": ""}
	fine := machine(metav1.ConditionTrue)
	for want, last := range map[rollPhase]clusterv1.Machine{
		rollDecides: fine,
		rollJoins:   machine(metav1.ConditionFalse),
		rollDrains:  deleted(clusterv1.MachineDeletingDrainingNodeReason, hooked),
		rollHooked:  deleted(clusterv1.MachineDeletingWaitingForPreTerminateHookReason, hooked),
		rollDeletes: deleted(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, nil),
	} {
		if got := rollPhaseOf([]clusterv1.Machine{fine, last}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
