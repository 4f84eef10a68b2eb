// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// secretRetry is how soon to look again for a Secret that does not exist: a manager may watch only
// Cluster API's Secrets.
const secretRetry = 5 * time.Second

// plan is everything to do now. Its parts do not depend on each other.
type plan struct {
	// wait is why no pool is ordered yet.
	wait waiting
	// ensure is the order for the pool without its user data; nil while the pool is as it should be.
	ensure *cloud.PoolSpec
	// create holds the instances that have no FooMachine yet.
	create []cloud.Instance
	// victims are the members to remove.
	victims []victim
	// memory is what later decisions have to know, except for the failures of the victims.
	memory memory
	// propagate holds the changes to existing Machines and FooMachines.
	propagate []application
	// next is when to decide again if nothing happens before; zero for never.
	next time.Time
	// deletePool is true if only the pool itself is left to delete.
	deletePool bool
	// desired is the size that the pool should have; nil if unknown.
	desired *int32
	// replicas is the size that the MachinePool adopts; nil if it decides itself.
	replicas *int32
}

// shrinks reports whether members are removed because there are too many.
func (p plan) shrinks() bool {
	return slices.ContainsFunc(p.victims, func(v victim) bool { return v.why == causeScaleDown })
}

// allowed returns the victims to remove once the cloud has answered the order. If it refused the
// order, no working member goes for what the order was to bring.
//   - If it refused only growth, the members that have to be replaced anyway are removed; otherwise a
//     pool that cannot grow could never be repaired.
//   - If it refused the template, nothing can take a member's place until the user corrects the
//     template, which may be never, as when the image is gone. So only those go that are surplus, of no use
//     or about to be lost. A MachineHealthCheck may be wrong, so what only it has marked stays.
func (p plan) allowed(s *scope) []victim {
	switch {
	case s.conflict:
		return nil
	case s.fault.IsZero():
		return p.victims
	case !slices.Contains(refusals, s.fault.Reason), s.cloudPool == nil, p.ensure == nil:
		return nil
	}
	stays := []cause{causeRollout, causeScaleDown}
	if !s.cloudPool.SameTemplate(*p.ensure) {
		stays = []cause{causeRollout, causeRemediation}
	}
	return slices.DeleteFunc(slices.Clone(p.victims), func(v victim) bool { return slices.Contains(stays, v.why) })
}

// decide returns what to do now. It decides nothing about members until everything that the
// decision depends on is known.
func decide(s *scope) plan {
	if !s.fault.IsZero() {
		return plan{memory: s.memory}
	}
	if s.deleting() {
		return decideDeletion(s)
	}
	p := plan{create: withoutFooMachine(s.members), propagate: propagation(s), memory: s.memory}
	p.desired = ptr.To(wantedReplicas(s))
	if p.wait = missing(s); p.wait.reason != "" {
		return p
	}
	d := disrupt(s.assessed, s.rules)
	p.replicas = adoptedReplicas(s)
	p.ensure = poolOrder(s, int32(d.size))
	p.victims, p.next = d.victims, d.next
	p.memory = memory{Failures: s.rules.failures, Counted: s.memory.stillCounted(s.members), Replicas: rememberedReplicas(s, d, p.ensure)}
	return p
}

// rememberedReplicas returns the size to keep while members of a pool that somebody else scales are
// replaced. It is needed from the first replacement until nothing is on its way in or out, and the
// pool has this size again, also in the cloud: the order that restores it there may fail, and the size
// that the cloud still has would be taken for the autoscaler's. The removal of a member that the cloud no
// longer counts does not change the size. A drain that takes too long is not waited for: it may never
// end, and the autoscaler would wait as well.
func rememberedReplicas(s *scope, d disruption, order *cloud.PoolSpec) *int32 {
	if !scaledElsewhere(s) {
		return nil
	}
	live, outdated := s.census.count(state.stays), s.census.count(state.outdated)
	replaces := slices.ContainsFunc(d.victims, func(v victim) bool { return v.counted() }) || d.size > int(s.cloudPool.Size)
	unfinished := s.census.count(state.broken)+len(s.census[stateLeaving]) > 0 || live != s.rules.replicas ||
		(outdated > 0 && s.rules.rollout == rolloutRuns) || (order != nil && order.Size != s.cloudPool.Size)
	if replaces || (s.memory.Replicas != nil && unfinished) {
		return ptr.To(int32(s.rules.replicas))
	}
	return nil
}

// decideDeletion deletes the members that have a FooMachine or a Machine, each in the order that
// Cluster API wants, and then the pool with the instances that have neither. Until the end,
// Machines get changes of their MachinePool: whoever waits for them may shorten the time that their
// Nodes have to drain.
func decideDeletion(s *scope) plan {
	p := plan{memory: s.memory, propagate: propagation(s)}
	left := false
	for _, m := range s.members {
		if len(m.objects()) == 0 {
			continue
		}
		left = true
		if !m.leaving() {
			p.victims = append(p.victims, victim{member: m, why: causePoolDeleted})
		}
	}
	p.deletePool = !left
	return p
}

// referenced reports whether the MachinePool still references this pool. Cluster API allows it to
// reference another one, and leaves the earlier one alone.
func referenced(s *scope) bool {
	ref := s.machinePool.Spec.Template.Spec.InfrastructureRef
	return ref.Kind == poolKind && ref.APIGroup == infrav1.GroupVersion.Group && ref.Name == s.pool.Name
}

// missing returns what must exist before a pool may be ordered, but does not.
func missing(s *scope) waiting {
	switch {
	case !referenced(s):
		return waiting{
			reason: infrav1.FooMachinePoolNotReferencedReason,
			message: fmt.Sprintf("spec.template.spec.infrastructureRef of the MachinePool names %s %s: nothing will change until this "+
				"FooMachinePool is deleted, which drains its Nodes, or is referenced again",
				s.machinePool.Spec.Template.Spec.InfrastructureRef.Kind, s.machinePool.Spec.Template.Spec.InfrastructureRef.Name),
		}
	case !ptr.Deref(s.cluster.Status.Initialization.InfrastructureProvisioned, false):
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForClusterInfrastructureReason,
			message: "Waiting for the Cluster to report its infrastructure as provisioned",
		}
	// This has its own reason, so that the MachinePool changes when its Cluster is initialized: the
	// kubeadm bootstrap provider then looks at a pool's KubeadmConfig. Otherwise it does so only
	// every 30 s.
	case ptr.Deref(s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName, "") == "" &&
		!conditions.IsTrue(s.cluster, clusterv1.ClusterControlPlaneInitializedCondition):
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForControlPlaneReason,
			message: "Waiting for the control plane to be initialized",
		}
	case ptr.Deref(s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName, "") == "":
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForBootstrapDataReason,
			message: "Waiting for spec.template.spec.bootstrap.dataSecretName of the MachinePool",
		}
	case s.bootstrap.problem != "":
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForBootstrapDataReason,
			message: s.bootstrap.problem,
			retry:   secretRetry,
		}
	case wantedReplicas(s) > infrav1.MaxPoolReplicas:
		return waiting{
			reason: infrav1.CloudInvalidReason,
			message: fmt.Sprintf("spec.replicas of the MachinePool is %d, but at most %d are allowed; nothing will change until it is reduced",
				wantedReplicas(s), infrav1.MaxPoolReplicas),
		}
	default:
		return waiting{}
	}
}
