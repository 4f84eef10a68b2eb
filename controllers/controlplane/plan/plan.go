// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
)

// Action is what to do next.
type Action string

const (
	// ActionNone means that nothing is left to do.
	ActionNone Action = "None"
	// ActionWait means that something else has to happen first.
	ActionWait Action = "Wait"
	// ActionAdopt takes over Machines that have no controller.
	ActionAdopt Action = "AdoptMachines"
	// ActionInitialize creates the first Machine, which runs kubeadm init.
	ActionInitialize Action = "Initialize"
	// ActionCreate creates one more Machine, which joins.
	ActionCreate Action = "CreateMachine"
	// ActionDelete deletes one Machine, after etcd's leadership has moved off it.
	ActionDelete Action = "DeleteMachine"
	// ActionRemediate deletes one unhealthy Machine and records that it is to be replaced.
	ActionRemediate Action = "RemediateMachine"
	// ActionRemoveMember removes an etcd member that belongs to no Machine.
	ActionRemoveMember Action = "RemoveEtcdMember"
	// ActionRelease removes the etcd member of a Machine that is being deleted, and then the Machine's
	// hook.
	ActionRelease Action = "ReleaseMachine"
	// ActionDeleteMachines deletes all Machines at once, because the control plane is being deleted.
	ActionDeleteMachines Action = "DeleteMachines"
	// ActionFinish removes the FooControlPlane's finalizer.
	ActionFinish Action = "Finish"
)

// Reasons of decisions.
const (
	ReasonSettled                   = "Settled"
	reasonInitializing              = "Initializing"
	ReasonScalingUp                 = controlplanev1.ScalingUpReason
	reasonScalingDown               = controlplanev1.ScalingDownReason
	reasonRollingOut                = controlplanev1.RollingOutReason
	reasonRemediating               = controlplanev1.RemediatingReason
	reasonAbandoningMachine         = "AbandoningMachine"
	reasonReleasingMachine          = "ReleasingMachine"
	reasonRemovingOrphan            = "RemovingOrphanedEtcdMember"
	reasonWaitingForInitialization  = "WaitingForInitialization"
	ReasonWaitingForInfrastructure  = "WaitingForInfrastructure"
	ReasonWaitingForMachineDeletion = "WaitingForMachineDeletion"
	reasonWaitingForTopology        = "WaitingForTopology"
	ReasonMachinesNotHealthy        = "MachinesNotHealthy"
	ReasonWorkloadUnknown           = "WorkloadClusterUnknown"
	ReasonEtcdNotHealthy            = "EtcdNotHealthy"
	ReasonQuorumAtRisk              = "EtcdQuorumAtRisk"
	reasonForeignMachines           = "ForeignMachines"
	reasonAdopting                  = "AdoptingMachines"
	reasonTemplateUnusable          = "InfrastructureTemplateUnusable"
	reasonReplicasRefused           = "ReplicasRefused"
	ReasonVersionRefused            = "VersionRefused"
	reasonSurgeRefused              = "MaxSurgeRefused"
	reasonMachinesLost              = "MachinesLost"
)

// Decision is what to do next, and why. The message is meant for the user.
type Decision struct {
	Action  Action
	Reason  string
	Message string
	// Machine that the action is about.
	Machine string
	// FailureDomain of the Machine to create.
	FailureDomain string
	// Etcd is what has to happen in etcd first.
	Etcd EtcdChange
	// Remediation is the record of the remediation, or of the one that the new Machine is a
	// replacement for.
	Remediation *Remediation
	// Recheck is when to decide again even if no watch fires; zero if never.
	Recheck time.Time
	// Stable says that all Machines and etcd are healthy and that nothing is left to do, except for
	// what only the user can decide.
	Stable bool
	// Unhealthy says, by Machine name, what happens now to each Machine that is to be remediated.
	Unhealthy map[string]Problem
}

// EtcdChange describes how a member leaves etcd.
type EtcdChange struct {
	// Leaving is the member that leaves; none if it has no ID.
	Leaving Member
	// Via is a member that stays. It takes over if Leaving is the leader.
	Via Member
	// MoveLeader says that Leaving is the leader.
	MoveLeader bool
}

func wait(reason, format string, arguments ...any) Decision {
	return Decision{Action: ActionWait, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// Acts reports whether the decision changes anything.
func (d Decision) Acts() bool {
	return d.Action != "" && d.Action != ActionWait && d.Action != ActionNone
}

// rule returns a decision, and whether it keeps the rules after it from acting. A rule that does
// not apply returns an empty decision and does not block.
type rule func(State) (next Decision, blocks bool)

// rules run in this order: finish what has begun, remediate, roll out, and last scale.
//
// Future features belong here: the rotation of a certificate authority before scale, since it
// changes all Machines; a snapshot as a precondition of rollOut; in-place updates as an alternative
// inside rollOut; the recovery of a lost quorum in place of remediate's refusal.
var rules = []rule{
	adopt,
	removeOrphan,
	finishDeletion,
	refuseReplicas,
	needPrerequisites,
	initialize,
	abandon,
	remediate,
	rollOut,
	scale,
}

// Decide returns the decision of the first rule that acts, or else what the first rule waits for.
// It depends on nothing but the state, so the same state always gives the same decision.
func Decide(s State) Decision {
	if s.Deleting {
		return s.withRemediations(planDeletion(s))
	}
	var waiting Decision
	for _, rule := range rules {
		next, blocks := rule(s)
		if next.Acts() {
			return s.withRemediations(next)
		}
		stable := next.Action == ActionNone
		if waiting.Action == "" {
			waiting = next
		}
		waiting.Stable = stable
		if blocks {
			break
		}
	}
	return s.withRemediations(waiting)
}

// planDeletion first waits until others have deleted the workers, and then deletes the whole
// control plane at once: etcd no longer needs quorum. Without Machines, the workers do not depend on
// this control plane; they may belong to another one.
func planDeletion(s State) Decision {
	if len(s.Machines) == 0 {
		return Decision{Action: ActionFinish, Reason: controlplanev1.DeletingDeletionCompletedReason}
	}
	if len(s.Workers) > 0 {
		return wait(controlplanev1.DeletingWaitingForWorkersDeletionReason, "waiting for the deletion of %s", strings.Join(s.Workers, ", "))
	}
	names := make([]string, 0, len(s.Machines))
	settled := true
	for _, machine := range s.Machines {
		names = append(names, machine.Name)
		settled = settled && machine.Deleting && !machine.Hooked
	}
	message := "deleting Machines " + strings.Join(names, ", ")
	if settled {
		return wait(controlplanev1.DeletingWaitingForMachineDeletionReason, "%s", message)
	}
	return Decision{Action: ActionDeleteMachines, Reason: controlplanev1.DeletingWaitingForMachineDeletionReason, Message: message}
}

// adopt takes over the cluster's Machines that have no controller, as found after a restore or when
// the cluster had another kind of control plane before. It adopts all or none, and does nothing in
// a cluster where another control plane owns Machines too.
func adopt(s State) (Decision, bool) {
	switch {
	case len(s.Foreign) > 0:
		return wait(reasonForeignMachines, "the cluster has control plane Machines that belong to another owner: %s; the FooControlPlane does nothing until they are gone",
			strings.Join(s.Foreign, ", ")), true
	case len(s.Adoptable) > 0:
		return Decision{Action: ActionAdopt, Reason: reasonAdopting, Message: "adopting Machines " + strings.Join(s.Adoptable, ", ")}, true
	}
	return Decision{}, false
}

func refuseReplicas(s State) (Decision, bool) {
	check := controlplanerules.CheckReplicas
	if !s.EtcdManaged {
		check = controlplanerules.CheckReplicasOfExternalEtcd
	}
	if err := check(s.Desired); err != nil {
		return wait(reasonReplicasRefused, "spec.replicas %d is refused: it %v", s.Desired, err), true
	}
	return Decision{}, false
}

func needPrerequisites(s State) (Decision, bool) {
	if !s.PrerequisiteProblem.Exists() {
		return Decision{}, false
	}
	return wait(s.PrerequisiteProblem.Reason, "%s", s.PrerequisiteProblem.Message), true
}

// initialize creates the first Machine, and blocks everything else until that one has initialized
// the control plane.
func initialize(s State) (Decision, bool) {
	if len(s.Machines) == 0 {
		return planFirst(s), true
	}
	if s.Initialized {
		return Decision{}, false
	}
	first := s.Machines[0]
	switch {
	case first.Remediate:
		return s.remediation(first), true
	case s.Replaceable(first):
		return s.abandonFirst(first), true
	}
	return wait(reasonWaitingForInitialization, "waiting for Machine %s to initialize the control plane", first.Name), true
}

func planFirst(s State) Decision {
	if s.Initialized {
		return wait(reasonMachinesLost, "the control plane was initialized, but none of its Machines is left, and a new one could not join; "+
			"restore the cluster from a backup, or delete it and create it again")
	}
	if !s.PlacementKnown {
		return wait(ReasonWaitingForInfrastructure, "waiting for the infrastructure cluster to name the control plane's endpoint and its failure domains")
	}
	if problem := s.creationProblem(); problem.Exists() {
		return wait(problem.Reason, "%s", problem.Message)
	}
	return Decision{
		Action: ActionInitialize, Reason: reasonInitializing, FailureDomain: s.placement(), Remediation: s.Remediation,
		Message: "creating the first Machine",
	}
}

// scale changes the number of Machines once nothing else is left to do.
func scale(s State) (Decision, bool) {
	switch {
	case len(s.Machines) < s.Desired && s.Remediation != nil:
		return s.create(reasonRemediating), true
	case len(s.Machines) < s.Desired:
		return s.create(ReasonScalingUp), true
	case len(s.Machines) > s.Desired:
		return s.remove(s.victim(), reasonScalingDown), true
	}
	if blocked, is := s.unstable(Machine{}); is {
		return blocked, true
	}
	return Decision{Action: ActionNone, Reason: ReasonSettled}, true
}
