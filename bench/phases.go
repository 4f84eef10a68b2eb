// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// phase is a step of a cluster that comes up: the unit of the time until then.
type phase string

const (
	phaseInfrastructure phase = "infrastructure-provisioned-s"
	phaseOrdered        phase = "control-plane-instance-ordered-s"
	phaseRunning        phase = "control-plane-instance-running-s"
	phaseBootstrapped   phase = "control-plane-instance-bootstrapped-s"
	phaseInitialized    phase = "ControlPlaneInitialized-s"
	phaseFirstNode      phase = "control-plane-Node-Ready-s"
	phaseWorkersRunning phase = "worker-instances-running-s"
	phaseWorkersDone    phase = "worker-instances-bootstrapped-s"
	phaseRegistered     phase = "Nodes-registered-s"
	phaseNodes          phase = "Nodes-Ready-s"
	phaseDNS            phase = "CoreDNS-Available-s"
	// phaseAddOns is reached when kube-proxy and flannel are ready on all Nodes, and CoreDNS is available.
	phaseAddOns    phase = "add-ons-Ready-s"
	phaseMachines  phase = "Machines-Ready-s"
	phaseAvailable phase = "Cluster-Available-s"
)

// phases in the order in which a cluster usually reaches them.
var phases = []phase{
	phaseInfrastructure, phaseOrdered, phaseRunning, phaseBootstrapped, phaseInitialized, phaseFirstNode,
	phaseWorkersRunning, phaseWorkersDone, phaseRegistered, phaseNodes, phaseDNS, phaseAddOns, phaseMachines, phaseAvailable,
}

// snapshot is the state of a cluster at one moment that determines its phases.
type snapshot struct {
	infrastructure, initialized, available, dns, addOns bool
	machines                                            []machineState
	nodes                                               []nodeState
}

type machineState struct{ controlPlane, ordered, running, bootstrapped, ready bool }

type nodeState struct{ controlPlane, ready bool }

// reached returns the phases that the cluster has reached.
func (s *snapshot) reached() map[phase]bool {
	first := func(m machineState) bool { return m.controlPlane }
	worker := func(m machineState) bool { return !m.controlPlane }
	return map[phase]bool{
		phaseInfrastructure: s.infrastructure,
		phaseOrdered:        countOf(s.machines, func(m machineState) bool { return first(m) && m.ordered }) >= 1,
		phaseRunning:        countOf(s.machines, func(m machineState) bool { return first(m) && m.running }) >= 1,
		phaseBootstrapped:   countOf(s.machines, func(m machineState) bool { return first(m) && m.bootstrapped }) >= 1,
		phaseInitialized:    s.initialized,
		phaseFirstNode:      countOf(s.nodes, func(n nodeState) bool { return n.controlPlane && n.ready }) >= 1,
		phaseWorkersRunning: countOf(s.machines, func(m machineState) bool { return worker(m) && m.running }) >= workers,
		phaseWorkersDone:    countOf(s.machines, func(m machineState) bool { return worker(m) && m.bootstrapped }) >= workers,
		phaseRegistered:     len(s.nodes) >= workers+1,
		phaseNodes:          countOf(s.nodes, func(n nodeState) bool { return n.ready }) >= workers+1,
		phaseDNS:            s.dns,
		phaseAddOns:         s.addOns,
		phaseMachines:       countOf(s.machines, func(m machineState) bool { return m.ready }) >= workers+1,
		phaseAvailable:      s.available,
	}
}

func countOf[T any](list []T, counts func(T) bool) int {
	number := 0
	for _, element := range list {
		if counts(element) {
			number++
		}
	}
	return number
}

// times are when a cluster reached each phase, since its objects were applied.
type times map[phase]time.Duration

// note records the newly reached phases of the cluster.
func (t times) note(s *snapshot, since time.Duration) {
	for phase, reached := range s.reached() {
		if _, before := t[phase]; reached && !before {
			t[phase] = since
		}
	}
}

// missing returns the phases that have not been reached.
func (t times) missing(wanted ...phase) []phase {
	var left []phase
	for _, phase := range wanted {
		if _, ok := t[phase]; !ok {
			left = append(left, phase)
		}
	}
	return left
}

// addTo adds the time of each reached phase to a run.
func (t times) addTo(run *measurement) {
	for _, phase := range phases {
		if reached, ok := t[phase]; ok {
			run.addSeconds(string(phase), reached)
		}
	}
}
