/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controlplane

import (
	"fmt"
	"strings"
	"time"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// action is what is done next.
type action string

const (
	// actionNone means that everything is as it should be.
	actionNone action = "None"
	// actionWait means that something else has to happen first.
	actionWait action = "Wait"
	// actionInitialize creates the first Machine, which runs kubeadm init.
	actionInitialize action = "Initialize"
	// actionCreate creates one more Machine, which joins.
	actionCreate action = "CreateMachine"
	// actionDelete deletes one Machine, after the leadership of etcd has moved off it.
	actionDelete action = "DeleteMachine"
	// actionRemediate deletes one Machine that is not healthy, and takes down that it is to be replaced.
	actionRemediate action = "RemediateMachine"
	// actionRemoveMember takes a member out of etcd that belongs to no Machine.
	actionRemoveMember action = "RemoveEtcdMember"
	// actionRelease takes the etcd member of a Machine that is being deleted out of etcd, and lets the Machine go.
	actionRelease action = "ReleaseMachine"
	// actionDeleteMachines deletes all Machines at once, for the control plane goes.
	actionDeleteMachines action = "DeleteMachines"
	// actionFinish lets the FooControlPlane go.
	actionFinish action = "Finish"
)

// Reasons of decisions that are not also reasons of a condition.
const (
	reasonSettled                   = "Settled"
	reasonInitializing              = "Initializing"
	reasonScalingUp                 = controlplanev1.ScalingUpReason
	reasonScalingDown               = controlplanev1.ScalingDownReason
	reasonRollingOut                = controlplanev1.RollingOutReason
	reasonRemediating               = controlplanev1.RemediatingReason
	reasonAbandoningMachine         = "AbandoningMachine"
	reasonReleasingMachine          = "ReleasingMachine"
	reasonRemovingOrphan            = "RemovingOrphanedEtcdMember"
	reasonWaitingForInitialization  = "WaitingForInitialization"
	reasonWaitingForInfrastructure  = "WaitingForInfrastructure"
	reasonWaitingForMachineDeletion = "WaitingForMachineDeletion"
	reasonWaitingForTopology        = "WaitingForTopology"
	reasonMachinesNotHealthy        = "MachinesNotHealthy"
	reasonWorkloadUnknown           = "WorkloadClusterUnknown"
	reasonEtcdNotHealthy            = "EtcdNotHealthy"
	reasonQuorumAtRisk              = "EtcdQuorumAtRisk"
	reasonForeignMachines           = "ForeignMachines"
	reasonTemplateUnusable          = "InfrastructureTemplateUnusable"
	reasonReplicasRefused           = "ReplicasRefused"
	reasonVersionRefused            = "VersionRefused"
	reasonSurgeRefused              = "MaxSurgeRefused"
	reasonMachinesLost              = "MachinesLost"
)

// decision is what is done next, and why. The message is meant for the user.
type decision struct {
	Action  action
	Reason  string
	Message string
	// Machine that the action is about.
	Machine string
	// FailureDomain of a Machine that is created.
	FailureDomain string
	// Etcd is what has to happen in etcd first.
	Etcd etcdChange
	// Remediation is what is taken down of a Machine that is remediated, or that its replacement is made for.
	Remediation *remediation
	// Recheck is when to decide again though nothing is reported to have changed; zero if there is no such time.
	Recheck time.Time

	// yields says that a decision to wait leaves what comes later in the plan free to act.
	yields bool
	// settled says that nothing is left to do but for what such a decision waits for.
	settled bool
}

// etcdChange is about a member that leaves etcd.
type etcdChange struct {
	// Leaving is the member that leaves. Without an ID none does.
	Leaving workload.Member
	// Via is a member that stays; it leads afterwards if Leaving leads now.
	Via workload.Member
	// MoveLeader says that Leaving leads now.
	MoveLeader bool
}

func wait(reason, format string, arguments ...any) decision {
	return decision{Action: actionWait, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// yielding returns the decision as one that leaves what comes later free to act.
func (d decision) yielding() decision {
	d.yields = true
	return d
}

func (d decision) acts() bool { return d.Action != actionWait && d.Action != actionNone }

// rules in the order in which they are asked. What has begun is finished first, then what is broken is repaired, then
// what is out of date is replaced, and last the number of Machines is changed.
//
// What may come later has its place here: the rotation of a certificate authority before scale, since it changes all
// Machines; a snapshot as something that rollOut waits for; an update in place as another way of rollOut to make a
// Machine as it should be; the recovery of a lost quorum in place of what remediate refuses.
var rules = []func(state) (decision, bool){
	refuseForeignMachines,
	removeOrphan,
	letGoFirst,
	refuseReplicas,
	needFoundation,
	initialize,
	abandon,
	remediate,
	rollOut,
	scale,
}

// plan returns the next action. It depends on nothing but the state, and the same state always gives the same plan.
func plan(s state) decision {
	if s.Deleting {
		return planDeletion(s)
	}
	var pending decision
	for _, rule := range rules {
		next, decided := rule(s)
		switch {
		case !decided:
		case next.acts():
			return next
		case pending.Action == "":
			pending = next
			fallthrough
		default:
			if !next.yields {
				pending.settled = next.Action == actionNone
				return pending
			}
		}
	}
	return pending
}

// planDeletion deletes workers first, which is for others to do, and then all of the control plane at once: etcd needs no
// quorum any more.
func planDeletion(s state) decision {
	if len(s.Workers) > 0 {
		return wait(controlplanev1.DeletingWaitingForWorkersDeletionReason, "waiting for the deletion of %s", strings.Join(s.Workers, ", "))
	}
	if len(s.Machines) == 0 {
		return decision{Action: actionFinish, Reason: controlplanev1.DeletingDeletionCompletedReason}
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
	return decision{Action: actionDeleteMachines, Reason: controlplanev1.DeletingWaitingForMachineDeletionReason, Message: message}
}

func refuseForeignMachines(s state) (decision, bool) {
	if len(s.Foreign) == 0 {
		return decision{}, false
	}
	return wait(reasonForeignMachines, "control plane Machines that belong to another owner are in the cluster: %s; nothing is done until they are gone",
		strings.Join(s.Foreign, ", ")), true
}

func refuseReplicas(s state) (decision, bool) {
	check := controlplanerules.CheckReplicas
	if !s.EtcdManaged {
		check = controlplanerules.CheckReplicasOfExternalEtcd
	}
	if err := check(s.Desired); err != nil {
		return wait(reasonReplicasRefused, "spec.replicas %d is refused: it %v", s.Desired, err), true
	}
	return decision{}, false
}

func needFoundation(s state) (decision, bool) {
	if !s.FoundationProblem.exists() {
		return decision{}, false
	}
	return wait(s.FoundationProblem.Reason, "%s", s.FoundationProblem.Message), true
}

// initialize makes the first Machine, and lets nothing else happen until it has initialized the control plane.
func initialize(s state) (decision, bool) {
	if len(s.Machines) == 0 {
		return planFirst(s), true
	}
	if s.Initialized {
		return decision{}, false
	}
	first := s.Machines[0]
	switch {
	case first.Remediate:
		return s.remediation(first), true
	case s.replaceable(first):
		return s.abandonFirst(first), true
	}
	return wait(reasonWaitingForInitialization, "waiting for Machine %s to initialize the control plane", first.Name), true
}

func planFirst(s state) decision {
	if s.Initialized {
		return wait(reasonMachinesLost, "the control plane was initialized, but none of its Machines is left, and a new one could not join; "+
			"restore the cluster from a backup, or delete and create it again")
	}
	if !s.PlacementKnown {
		return wait(reasonWaitingForInfrastructure, "waiting for the infrastructure cluster to name the control plane's endpoint and its failure domains")
	}
	if problem := s.creationProblem(); problem.exists() {
		return wait(problem.Reason, "%s", problem.Message)
	}
	return decision{
		Action: actionInitialize, Reason: reasonInitializing, FailureDomain: s.placement(), Remediation: s.Remediation,
		Message: "creating the first Machine",
	}
}

// scale changes the number of Machines, once nothing else is to be done.
func scale(s state) (decision, bool) {
	switch {
	case len(s.Machines) < s.Desired && s.Remediation != nil:
		return s.create(reasonRemediating), true
	case len(s.Machines) < s.Desired:
		return s.create(reasonScalingUp), true
	case len(s.Machines) > s.Desired:
		return s.remove(s.victim(), reasonScalingDown), true
	}
	if blocked, is := s.unstable(machineState{}); is {
		return blocked, true
	}
	return decision{Action: actionNone, Reason: reasonSettled}, true
}
