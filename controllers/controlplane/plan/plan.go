// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
)

// Action is what is done next.
type Action string

const (
	// ActionNone means that everything is as it should be.
	ActionNone Action = "None"
	// ActionWait means that something else has to happen first.
	ActionWait Action = "Wait"
	// ActionAdopt takes over Machines that nobody controls.
	ActionAdopt Action = "AdoptMachines"
	// ActionInitialize creates the first Machine, which runs kubeadm init.
	ActionInitialize Action = "Initialize"
	// ActionCreate creates one more Machine, which joins.
	ActionCreate Action = "CreateMachine"
	// ActionDelete deletes one Machine, after the leadership of etcd has moved off it.
	ActionDelete Action = "DeleteMachine"
	// ActionRemediate deletes one Machine that is not healthy, and takes down that it is to be replaced.
	ActionRemediate Action = "RemediateMachine"
	// ActionRemoveMember takes a member out of etcd that belongs to no Machine.
	ActionRemoveMember Action = "RemoveEtcdMember"
	// ActionRelease takes the etcd member of a Machine that is being deleted out of etcd, and lets the Machine go.
	ActionRelease Action = "ReleaseMachine"
	// ActionDeleteMachines deletes all Machines at once, for the control plane goes.
	ActionDeleteMachines Action = "DeleteMachines"
	// ActionFinish lets the FooControlPlane go.
	ActionFinish Action = "Finish"
)

// Reasons of decisions that are not also reasons of a condition.
const (
	ReasonSettled                   = "Settled"
	ReasonInitializing              = "Initializing"
	ReasonScalingUp                 = controlplanev1.ScalingUpReason
	ReasonScalingDown               = controlplanev1.ScalingDownReason
	ReasonRollingOut                = controlplanev1.RollingOutReason
	ReasonRemediating               = controlplanev1.RemediatingReason
	ReasonAbandoningMachine         = "AbandoningMachine"
	ReasonReleasingMachine          = "ReleasingMachine"
	ReasonRemovingOrphan            = "RemovingOrphanedEtcdMember"
	ReasonWaitingForInitialization  = "WaitingForInitialization"
	ReasonWaitingForInfrastructure  = "WaitingForInfrastructure"
	ReasonWaitingForMachineDeletion = "WaitingForMachineDeletion"
	ReasonWaitingForTopology        = "WaitingForTopology"
	ReasonMachinesNotHealthy        = "MachinesNotHealthy"
	ReasonWorkloadUnknown           = "WorkloadClusterUnknown"
	ReasonEtcdNotHealthy            = "EtcdNotHealthy"
	ReasonQuorumAtRisk              = "EtcdQuorumAtRisk"
	ReasonForeignMachines           = "ForeignMachines"
	ReasonAdopting                  = "AdoptingMachines"
	ReasonTemplateUnusable          = "InfrastructureTemplateUnusable"
	ReasonReplicasRefused           = "ReplicasRefused"
	ReasonVersionRefused            = "VersionRefused"
	ReasonSurgeRefused              = "MaxSurgeRefused"
	ReasonMachinesLost              = "MachinesLost"
)

// Decision is what is done next, and why. The message is meant for the user.
type Decision struct {
	Action  Action
	Reason  string
	Message string
	// Machine that the action is about.
	Machine string
	// FailureDomain of a Machine that is created.
	FailureDomain string
	// Etcd is what has to happen in etcd first.
	Etcd EtcdChange
	// Remediation is what is taken down of a Machine that is remediated, or that its replacement is made for.
	Remediation *Remediation
	// Recheck is when to decide again though nothing is reported to have changed; zero if there is no such time.
	Recheck time.Time
	// Stable says that all Machines and etcd are healthy and nothing is left to do, but for what only the user can decide.
	Stable bool
	// Unhealthy says of each Machine that is to be remediated, by its name, what is done about it now.
	Unhealthy map[string]Problem
}

// EtcdChange is about a member that leaves etcd.
type EtcdChange struct {
	// Leaving is the member that leaves. Without an ID none does.
	Leaving Member
	// Via is a member that stays; it leads afterwards if Leaving leads now.
	Via Member
	// MoveLeader says that Leaving leads now.
	MoveLeader bool
}

func wait(reason, format string, arguments ...any) Decision {
	return Decision{Action: ActionWait, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// Acts says whether the decision changes anything.
func (d Decision) Acts() bool {
	return d.Action != "" && d.Action != ActionWait && d.Action != ActionNone
}

// rule returns a decision, and whether it keeps the rules after it from acting. A rule that has nothing to say returns
// none, and does not block.
type rule func(State) (next Decision, blocks bool)

// rules in the order in which they are asked. What has begun is finished first, then what is broken is repaired, then
// what is out of date is replaced, and last the number of Machines is changed.
//
// What may come later has its place here: the rotation of a certificate authority before scale, since it changes all
// Machines; a snapshot as something that rollOut waits for; an update in place as another way of rollOut to make a
// Machine as it should be; the recovery of a lost quorum in place of what remediate refuses.
var rules = []rule{
	adopt,
	removeOrphan,
	finishDeletion,
	refuseReplicas,
	needFoundation,
	initialize,
	abandon,
	remediate,
	rollOut,
	scale,
}

// Decide returns the next action: that of the first rule that acts, or else what the first of them waits for. It depends
// on nothing but the state, and the same state always gives the same decision.
func Decide(s State) Decision {
	if s.Deleting {
		return s.judge(planDeletion(s))
	}
	var waiting Decision
	for _, rule := range rules {
		next, blocks := rule(s)
		if next.Acts() {
			return s.judge(next)
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
	return s.judge(waiting)
}

// planDeletion deletes workers first, which is for others to do, and then all of the control plane at once: etcd needs no
// quorum any more.
func planDeletion(s State) Decision {
	if len(s.Workers) > 0 {
		return wait(controlplanev1.DeletingWaitingForWorkersDeletionReason, "waiting for the deletion of %s", strings.Join(s.Workers, ", "))
	}
	if len(s.Machines) == 0 {
		return Decision{Action: ActionFinish, Reason: controlplanev1.DeletingDeletionCompletedReason}
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

// adopt takes over the cluster's Machines that nobody controls, as there are after a restore or when the control plane was
// of another kind before. Nothing is taken over unless everything can be, and nothing is done in a cluster whose control
// plane is also somebody else's.
func adopt(s State) (Decision, bool) {
	switch {
	case len(s.Foreign) > 0:
		return wait(ReasonForeignMachines, "control plane Machines that belong to another owner are in the cluster: %s; nothing is done until they are gone",
			strings.Join(s.Foreign, ", ")), true
	case len(s.Adoptable) > 0:
		return Decision{Action: ActionAdopt, Reason: ReasonAdopting, Message: "adopting Machines " + strings.Join(s.Adoptable, ", ")}, true
	}
	return Decision{}, false
}

func refuseReplicas(s State) (Decision, bool) {
	check := controlplanerules.CheckReplicas
	if !s.EtcdManaged {
		check = controlplanerules.CheckReplicasOfExternalEtcd
	}
	if err := check(s.Desired); err != nil {
		return wait(ReasonReplicasRefused, "spec.replicas %d is refused: it %v", s.Desired, err), true
	}
	return Decision{}, false
}

func needFoundation(s State) (Decision, bool) {
	if !s.FoundationProblem.Exists() {
		return Decision{}, false
	}
	return wait(s.FoundationProblem.Reason, "%s", s.FoundationProblem.Message), true
}

// initialize makes the first Machine, and lets nothing else happen until it has initialized the control plane.
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
	return wait(ReasonWaitingForInitialization, "waiting for Machine %s to initialize the control plane", first.Name), true
}

func planFirst(s State) Decision {
	if s.Initialized {
		return wait(ReasonMachinesLost, "the control plane was initialized, but none of its Machines is left, and a new one could not join; "+
			"restore the cluster from a backup, or delete and create it again")
	}
	if !s.PlacementKnown {
		return wait(ReasonWaitingForInfrastructure, "waiting for the infrastructure cluster to name the control plane's endpoint and its failure domains")
	}
	if problem := s.creationProblem(); problem.Exists() {
		return wait(problem.Reason, "%s", problem.Message)
	}
	return Decision{
		Action: ActionInitialize, Reason: ReasonInitializing, FailureDomain: s.placement(), Remediation: s.Remediation,
		Message: "creating the first Machine",
	}
}

// scale changes the number of Machines, once nothing else is to be done.
func scale(s State) (Decision, bool) {
	switch {
	case len(s.Machines) < s.Desired && s.Remediation != nil:
		return s.create(ReasonRemediating), true
	case len(s.Machines) < s.Desired:
		return s.create(ReasonScalingUp), true
	case len(s.Machines) > s.Desired:
		return s.remove(s.victim(), ReasonScalingDown), true
	}
	if blocked, is := s.unstable(Machine{}); is {
		return blocked, true
	}
	return Decision{Action: ActionNone, Reason: ReasonSettled}, true
}
