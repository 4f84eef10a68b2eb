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
	"context"
	"strings"

	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/collections"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/failuredomains"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// state reduces the scope to what a plan is made from.
func (s *scope) state(ctx context.Context) state {
	result := state{
		Deleting:           s.deleting(),
		Workers:            s.workers,
		Desired:            s.desired(),
		Version:            s.controlPlane.Spec.Version,
		EtcdManaged:        s.etcdMode() == workload.EtcdStacked,
		FoundationProblem:  s.foundation.first(),
		PlacementKnown:     s.placementKnown(),
		TemplateProblem:    s.templateProblem,
		Initialized:        s.initialized,
		ClusterInitialized: clusterInitialized(s.cluster),
		Foreign:            s.foreign,
		WorkloadProblem:    s.workloadProblem,
		FailureDomain:      s.nextFailureDomain(ctx),
		Surplus:            s.surplus(ctx),
	}
	if s.observation != nil {
		result.Etcd = s.observation.Etcd
	}
	for _, machine := range s.machines {
		result.Machines = append(result.Machines, s.machineState(machine))
	}
	return result
}

func (f foundation) first() problem {
	if f.certificates != nil {
		return *f.certificates
	}
	return ptr.Deref(f.kubeconfig, problem{})
}

func (s *scope) machineState(machine *clusterv1.Machine) machineState {
	_, hooked := machine.Annotations[controlplanev1.PreTerminateHookCleanupAnnotation]
	return machineState{
		Name:      machine.Name,
		Node:      machine.Status.NodeRef.Name,
		Deleting:  !machine.DeletionTimestamp.IsZero(),
		Hooked:    hooked,
		AtHook:    atHook(machine),
		Version:   machine.Spec.Version,
		Unhealthy: s.unhealthy(machine),
	}
}

// atHook says whether Cluster API has drained the Machine, and no hook but ours is left.
func atHook(machine *clusterv1.Machine) bool {
	for key := range machine.Annotations {
		if strings.HasPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix) && key != controlplanev1.PreTerminateHookCleanupAnnotation {
			return false
		}
	}
	condition := conditions.Get(machine, clusterv1.MachineDeletingCondition)
	return condition != nil && condition.Reason == clusterv1.MachineDeletingWaitingForPreTerminateHookReason
}

// unhealthy says what is wrong with a Machine's node and components.
func (s *scope) unhealthy(machine *clusterv1.Machine) []string {
	if s.observation == nil {
		return []string{"it could not be observed"}
	}
	if machine.Status.NodeRef.Name == "" {
		return []string{"it has no Node yet"}
	}
	node, ok := s.observation.Node(machine.Status.NodeRef.Name)
	if !ok {
		return []string{"its Node " + machine.Status.NodeRef.Name + " is not among the control plane's Nodes"}
	}
	var problems []string
	if !node.Ready {
		problems = append(problems, "its Node is not ready")
	}
	for _, component := range workload.Components(s.etcdMode()) {
		if pod := node.Pods[component]; pod.State != workload.PodRunning {
			problems = append(problems, string(component)+": "+pod.Message)
		}
	}
	return problems
}

// nextFailureDomain is where the fewest Machines are.
//
//contract:control-plane/machine-placement
func (s *scope) nextFailureDomain(ctx context.Context) string {
	active := s.machineCollection().Filter(collections.ActiveMachines)
	return failuredomains.PickFewest(ctx, s.failureDomains(), s.machineCollection(), active)
}

// surplus is the Machine that goes first: one that the user has marked for it, else the oldest where most Machines are.
func (s *scope) surplus(ctx context.Context) string {
	candidates := s.machineCollection().Filter(collections.HasAnnotationKey(clusterv1.DeleteMachineAnnotation))
	if len(candidates) == 0 {
		candidates = s.machineCollection()
	}
	domain := failuredomains.PickMost(ctx, s.failureDomains(), s.machineCollection(), candidates)
	if inDomain := candidates.Filter(collections.InFailureDomains(domain)); domain != "" && len(inDomain) > 0 {
		candidates = inDomain
	}
	if oldest := candidates.Oldest(); oldest != nil {
		return oldest.Name
	}
	return ""
}

// anythingUnhealthy says whether any Machine's components or etcd are not known to be healthy.
func (s *scope) anythingUnhealthy() bool {
	if s.observation == nil {
		return true
	}
	machines := make([]machineState, 0, len(s.machines))
	for _, machine := range s.machines {
		observed := s.machineState(machine)
		if len(observed.Unhealthy) > 0 {
			return true
		}
		machines = append(machines, observed)
	}
	return s.etcdMode() == workload.EtcdStacked && etcdProblem(state{Etcd: s.observation.Etcd, Machines: machines}) != ""
}
