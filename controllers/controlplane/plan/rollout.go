// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/blang/semver/v4"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
)

// minReplicasWithoutSurge is how many Machines are needed to delete one before its replacement
// exists.
const minReplicasWithoutSurge = 3

// brokenGrace is how long a rollout waits for a broken Machine to recover before it deletes the
// Machine without a replacement.
const brokenGrace = 5 * time.Minute

// abandon deletes out-of-date Machines that have not joined. So reverting the spec ends a rollout
// whose first Machine never joined, and a Machine that fails because of the spec is given up as
// soon as the spec changes. The health of the other Machines does not matter.
func abandon(s State) (Decision, bool) {
	for _, machine := range s.newcomers() {
		if !s.Replaceable(machine) || s.WorkloadProblem != "" || len(s.deletingMachines()) > 0 || s.Awaited != "" {
			continue
		}
		if slices.ContainsFunc(s.Machines, Machine.Joined) {
			return giveUp(machine), true
		}
	}
	return Decision{}, false
}

// abandonFirst gives up the Machine that is to initialize the control plane, while nothing can have
// run on it. Once its infrastructure exists, a cluster that is unreachable from here may be in use,
// and only the user knows.
func (s State) abandonFirst(first Machine) Decision {
	if problem := s.creationProblem(); problem.Exists() {
		return wait(problem.Reason, "%s", problem.Message)
	}
	if slices.ContainsFunc(s.Machines, func(m Machine) bool { return m.provisioned() || m.Joined() }) {
		return wait(reasonWaitingForInitialization, "waiting for Machine %s to initialize the control plane, although it is out of date: %s; "+
			"if you do not need its cluster, delete the Machine, and another one is created", first.Name, first.Outdated[0].Text)
	}
	return giveUp(first)
}

func giveUp(machine Machine) Decision {
	return Decision{
		Action: ActionDelete, Reason: reasonAbandoningMachine, Machine: machine.Name,
		Message: fmt.Sprintf("deleting Machine %s, which has not joined and is out of date: %s", machine.Name, machine.Outdated[0].Text),
	}
}

// rollOut replaces out-of-date Machines one by one.
func rollOut(s State) (Decision, bool) {
	outdated := Filter(s.Machines, func(m Machine) bool { return !m.Deleting && len(m.Outdated) > 0 })
	if len(outdated) == 0 {
		return Decision{}, false
	}
	due := Filter(outdated, s.Replaceable)
	if len(due) == 0 {
		return s.Hold(), false
	}
	if problem := s.creationProblem(); problem.Exists() {
		return wait(problem.Reason, "%s", problem.Message), true
	}
	if s.MaxSurge == 0 && s.Desired < minReplicasWithoutSurge {
		return wait(reasonSurgeRefused,
			"spec.rollout.strategy.rollingUpdate.maxSurge 0 is refused with spec.replicas %d: a Machine may be deleted before its replacement exists "+
				"only with at least %d replicas; use maxSurge 1", s.Desired, minReplicasWithoutSurge), false
	}
	if broken := Filter(due, s.goesBroken); len(broken) > 0 && len(s.Machines) > 1 {
		if next := s.remove(s.mostCrowded(broken), reasonRollingOut); next.Acts() {
			return next, true
		}
	}
	if len(s.Machines) < s.Desired+s.MaxSurge {
		return s.create(reasonRollingOut), true
	}
	return s.remove(s.victim(), reasonRollingOut), true
}

// goesBroken reports whether a rollout deletes a Machine because it is broken: if a deletion comes
// next anyway, or if it has been broken for brokenGrace and blocks its replacement. A Machine that
// merely restarts gets that long to recover.
func (s State) goesBroken(machine Machine) bool {
	if machine.Healthy() {
		return false
	}
	lasts := !machine.BrokenSince.IsZero() && s.Now.Sub(machine.BrokenSince) >= brokenGrace
	return lasts || len(s.Machines) >= s.Desired+s.MaxSurge
}

// Hold waits for the user, because only this program finds the Machines out of date.
func (s State) Hold() Decision {
	return wait(controlplanev1.RolloutHeldReason,
		"the Machines are out of date although neither the spec nor the template of the FooControlPlane has changed since they were created, "+
			"for example because the manager was upgraded; to replace them, annotate the FooControlPlane with %s: %q",
		controlplanev1.ConfirmRolloutAnnotation, s.Digest)
}

// versionProblem says why no Machine with spec.version may join the existing ones; empty if one
// may.
func (s State) versionProblem() string {
	wanted, err := semver.ParseTolerant(s.Version)
	if err != nil {
		return fmt.Sprintf("spec.version %q is not a version such as v1.36.3: %v", s.Version, err)
	}
	for _, machine := range s.Machines {
		version, err := semver.ParseTolerant(machine.Version)
		if err != nil || !machine.Joined() {
			continue
		}
		switch {
		case wanted.LT(version):
			return fmt.Sprintf("spec.version %s is refused: Machine %s has joined with %s, and a control plane cannot be downgraded; "+
				"set spec.version to %s or newer", s.Version, machine.Name, machine.Version, machine.Version)
		case controlplanerules.SkipsMinor(wanted, version):
			return fmt.Sprintf("spec.version %s is refused: it is more than one minor version above %s, which Machine %s has; "+
				"first set spec.version to a v%d.%d release", s.Version, machine.Version, machine.Name, version.Major, version.Minor+1)
		}
	}
	return ""
}
