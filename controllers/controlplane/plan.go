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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
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
	// actionScaleUp creates one more Machine, which joins.
	actionScaleUp action = "ScaleUp"
	// actionScaleDown deletes one Machine.
	actionScaleDown action = "ScaleDown"
	// actionRelease takes the etcd member of a Machine that is being deleted out of etcd, and lets the Machine go.
	actionRelease action = "Release"
	// actionDeleteMachines deletes all Machines at once, for the control plane goes.
	actionDeleteMachines action = "DeleteMachines"
	// actionFinish lets the FooControlPlane go.
	actionFinish action = "Finish"
)

// Reasons of decisions that are not also reasons of a condition.
const (
	reasonSettled                   = "Settled"
	reasonInitializing              = "Initializing"
	reasonScalingUp                 = "ScalingUp"
	reasonScalingDown               = "ScalingDown"
	reasonReleasingMachine          = "ReleasingMachine"
	reasonWaitingForInitialization  = "WaitingForInitialization"
	reasonWaitingForInfrastructure  = "WaitingForInfrastructure"
	reasonWaitingForMachineDeletion = "WaitingForMachineDeletion"
	reasonMachinesNotHealthy        = "MachinesNotHealthy"
	reasonWorkloadUnknown           = "WorkloadClusterUnknown"
	reasonEtcdNotHealthy            = "EtcdNotHealthy"
	reasonQuorumAtRisk              = "EtcdQuorumAtRisk"
	reasonForeignMachines           = "ForeignMachines"
	reasonTemplateUnusable          = "InfrastructureTemplateUnusable"
	reasonReplicasRefused           = "ReplicasRefused"
	reasonRolloutNotImplemented     = "RolloutNotImplemented"
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
}

// etcdChange takes a member out of etcd.
type etcdChange struct {
	// Remove is the member that leaves. Without an ID none does.
	Remove workload.Member
	// Via is a member that stays; it leads afterwards if Remove leads now.
	Via workload.Member
	// MoveLeader says that Remove leads now.
	MoveLeader bool
}

func wait(reason, format string, arguments ...any) decision {
	return decision{Action: actionWait, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// plan returns the next action. It depends on nothing but the state, and the same state always gives the same plan.
func plan(s state) decision {
	if s.Deleting {
		return planDeletion(s)
	}
	for _, rule := range []func(state) (decision, bool){
		refuseForeignMachines,
		letGoFirst,
		refuseReplicas,
		needFoundation,
		holdOtherVersions,
		initialize,
	} {
		if next, decided := rule(s); decided {
			return next
		}
	}
	switch {
	case len(s.Machines) < s.Desired:
		return planScaleUp(s)
	case len(s.Machines) > s.Desired:
		return planScaleDown(s)
	default:
		return decision{Action: actionNone, Reason: reasonSettled}
	}
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
	return wait(reasonForeignMachines,
		"control plane Machines that this FooControlPlane does not own are in the cluster: %s; delete them, adoption is not implemented in this version",
		strings.Join(s.Foreign, ", ")), true
}

func refuseReplicas(s state) (decision, bool) {
	switch {
	case s.Desired < 1:
		return wait(reasonReplicasRefused, "spec.replicas %d is refused: it must be at least 1", s.Desired), true
	case s.EtcdManaged && s.Desired%2 == 0:
		return wait(reasonReplicasRefused,
			"spec.replicas %d is refused: an even number of etcd members bears no more losses than one fewer; use an odd number, or external etcd", s.Desired), true
	}
	return decision{}, false
}

func needFoundation(s state) (decision, bool) {
	if !s.FoundationProblem.exists() {
		return decision{}, false
	}
	return wait(s.FoundationProblem.Reason, "%s", s.FoundationProblem.Message), true
}

// holdOtherVersions keeps versions apart: a Machine of another version must not join before there is a rollout that knows
// the rules of version skew.
func holdOtherVersions(s state) (decision, bool) {
	others := s.otherVersions()
	if len(others) == 0 {
		return decision{}, false
	}
	return wait(reasonRolloutNotImplemented,
		"spec.version is %s, but these Machines have another version: %s; rollout is not implemented in this version, set spec.version back",
		s.Version, strings.Join(others, ", ")), true
}

// initialize makes the first Machine, and lets nothing else happen until it has initialized the control plane.
func initialize(s state) (decision, bool) {
	switch {
	case len(s.Machines) == 0 && s.Initialized:
		return wait(reasonMachinesLost,
			"the control plane was initialized, but none of its Machines is left; a new one could not join, recovery is not implemented in this version"), true
	case len(s.Machines) == 0 && !s.PlacementKnown:
		return wait(reasonWaitingForInfrastructure, "waiting for the infrastructure cluster to name the control plane's endpoint and its failure domains"), true
	case len(s.Machines) == 0 && s.TemplateProblem != "":
		return wait(reasonTemplateUnusable, "%s", s.TemplateProblem), true
	case len(s.Machines) == 0:
		return decision{
			Action: actionInitialize, Reason: reasonInitializing, FailureDomain: s.FailureDomain,
			Message: "creating the first Machine",
		}, true
	case !s.Initialized:
		return wait(reasonWaitingForInitialization, "waiting for Machine %s to initialize the control plane", s.Machines[0].Name), true
	}
	return decision{}, false
}

func planScaleUp(s state) decision {
	if !s.ClusterInitialized {
		return wait(reasonWaitingForInitialization, "waiting for the Cluster's ControlPlaneInitialized condition")
	}
	if s.TemplateProblem != "" {
		return wait(reasonTemplateUnusable, "%s", s.TemplateProblem)
	}
	if blocked, is := unstable(s); is {
		return blocked
	}
	return decision{
		Action: actionScaleUp, Reason: reasonScalingUp, FailureDomain: s.FailureDomain,
		Message: fmt.Sprintf("creating Machine %d of %d", len(s.Machines)+1, s.Desired),
	}
}

func planScaleDown(s state) decision {
	if blocked, is := unstable(s); is {
		return blocked
	}
	return decision{
		Action: actionScaleDown, Reason: reasonScalingDown, Machine: s.Surplus,
		Message: fmt.Sprintf("deleting Machine %s, %d of %d stay", s.Surplus, len(s.Machines)-1, len(s.Machines)),
	}
}

// unstable says whether anything is wrong or unknown, in which case nothing is changed.
func unstable(s state) (decision, bool) {
	if s.WorkloadProblem != "" {
		return wait(reasonWorkloadUnknown, "%s", s.WorkloadProblem), true
	}
	var problems []string
	for _, machine := range s.Machines {
		for _, problem := range machine.Unhealthy {
			problems = append(problems, "Machine "+machine.Name+": "+problem)
		}
	}
	if len(problems) > 0 {
		return wait(reasonMachinesNotHealthy, "%s", strings.Join(problems, "; ")), true
	}
	if !s.EtcdManaged {
		return decision{}, false
	}
	if problem := etcdProblem(s); problem != "" {
		return wait(reasonEtcdNotHealthy, "%s", problem), true
	}
	return decision{}, false
}
