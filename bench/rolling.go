// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// rollPhase is what a rollout of a control plane is doing: the unit of the time in which it does
// that.
type rollPhase string

const (
	rollJoins   rollPhase = "rollout-new-machine-joins-s"
	rollDecides rollPhase = "rollout-controller-decides-s"
	rollDrains  rollPhase = "rollout-Cluster-API-drains-s"
	rollHooked  rollPhase = "rollout-controller-releases-s"
	rollDeletes rollPhase = "rollout-Cluster-API-deletes-s"
)

// rollPhases are the phases in the order in which a machine is replaced.
var rollPhases = []rollPhase{rollJoins, rollDecides, rollDrains, rollHooked, rollDeletes}

// rollTimes are how long a rollout was in each phase.
type rollTimes map[rollPhase]time.Duration

// rollPhaseOf returns the phase of a rollout with these Machines. A deleted Machine takes
// precedence over a joining one.
func rollPhaseOf(machines []clusterv1.Machine) rollPhase {
	deleting := slices.IndexFunc(machines, func(machine clusterv1.Machine) bool { return !machine.DeletionTimestamp.IsZero() })
	if deleting >= 0 {
		machine := &machines[deleting]
		switch {
		case !hasPreTerminateHook(machine):
			return rollDeletes
		case conditions.GetReason(machine, clusterv1.MachineDeletingCondition) == clusterv1.MachineDeletingWaitingForPreTerminateHookReason:
			return rollHooked
		default:
			return rollDrains
		}
	}
	joins := func(machine clusterv1.Machine) bool {
		return !conditions.IsTrue(&machine, clusterv1.MachineAvailableCondition)
	}
	if slices.ContainsFunc(machines, joins) {
		return rollJoins
	}
	return rollDecides
}

func hasPreTerminateHook(machine *clusterv1.Machine) bool {
	for annotation := range machine.Annotations {
		if strings.HasPrefix(annotation, clusterv1.PreTerminateDeleteHookAnnotationPrefix) {
			return true
		}
	}
	return false
}
