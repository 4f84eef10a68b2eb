// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/collections"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// member is one instance of a pool with its FooMachine and Machine. At least one of instance and
// fooMachine is set, except for a Machine whose FooMachine was deleted before it.
type member struct {
	// name is the name of the FooMachine and the Machine, and the instance's hostname.
	name string
	// instance is nil once it has left the pool.
	instance *cloud.Instance
	// fooMachine is nil until the controller has created it.
	fooMachine *infrav1.FooMachine
	// machine is nil until Cluster API has created it with its finalizer.
	machine *clusterv1.Machine
	// asked is true if the member's deletion was requested but what was read does not show it yet.
	asked bool
}

// membersOf joins the instances, FooMachines and Machines of each member, sorted by name. It reads
// each list once.
func membersOf(instances []cloud.Instance, fooMachines []infrav1.FooMachine, machines []clusterv1.Machine) []member {
	byName := make(map[string]*member, len(instances))
	of := func(name string) *member {
		m, ok := byName[name]
		if !ok {
			m = &member{name: name}
			byName[name] = m
		}
		return m
	}
	for i := range instances {
		of(instances[i].Hostname).instance = &instances[i]
	}
	for i := range fooMachines {
		of(fooMachines[i].Name).fooMachine = &fooMachines[i]
	}
	for i := range machines {
		if !held(&machines[i]) {
			continue
		}
		name := machines[i].Spec.InfrastructureRef.Name
		if m, ok := byName[name]; ok {
			m.machine = &machines[i]
		} else if left(&machines[i]) {
			of(name).machine = &machines[i]
		}
	}
	members := make([]member, 0, len(byName))
	for _, m := range byName {
		members = append(members, *m)
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return members
}

// held reports whether a Machine drains its Node when it is deleted. Cluster API has only just
// created one that does not: deleted now, it would vanish and be created again.
func held(machine *clusterv1.Machine) bool {
	return !machine.DeletionTimestamp.IsZero() || controllerutil.ContainsFinalizer(machine, clusterv1.MachineFinalizer)
}

// left reports whether a Machine stays although its FooMachine is gone: nobody else deletes it. A
// Machine that is already being deleted needs nothing more.
func left(machine *clusterv1.Machine) bool {
	return machine.DeletionTimestamp.IsZero() && infrastructureDeleted(machine)
}

// infrastructureDeleted reports whether Cluster API misses the FooMachine of a Machine, which
// existed before the Machine. The reason depends on whether Cluster API had seen the FooMachine
// provisioned.
func infrastructureDeleted(machine *clusterv1.Machine) bool {
	ready := conditions.Get(machine, clusterv1.MachineInfrastructureReadyCondition)
	return ready != nil && ready.Status == metav1.ConditionFalse &&
		(ready.Reason == clusterv1.MachineInfrastructureDeletedReason || ready.Reason == clusterv1.MachineInfrastructureDoesNotExistReason)
}

// leaving reports whether the deletion of the member's Machine or FooMachine has begun. An instance
// that the cloud deletes by itself is lost instead: its Machine still has to be deleted.
func (m member) leaving() bool {
	return m.asked || (m.fooMachine != nil && !m.fooMachine.DeletionTimestamp.IsZero()) ||
		(m.machine != nil && !m.machine.DeletionTimestamp.IsZero())
}

// objects returns the member's Machine and FooMachine, as far as they exist. Their UIDs distinguish
// it from a later member of the same name.
func (m member) objects() []client.Object {
	var objects []client.Object
	if m.machine != nil {
		objects = append(objects, m.machine)
	}
	if m.fooMachine != nil {
		objects = append(objects, m.fooMachine)
	}
	return objects
}

// leavingSince returns when the deletion of the member began; zero if unknown.
func (m member) leavingSince() time.Time {
	switch {
	case m.machine != nil && !m.machine.DeletionTimestamp.IsZero():
		return m.machine.DeletionTimestamp.Time
	case m.fooMachine != nil && !m.fooMachine.DeletionTimestamp.IsZero():
		return m.fooMachine.DeletionTimestamp.Time
	default:
		return time.Time{}
	}
}

// ready reports whether the instance runs and its bootstrap succeeded.
func (m member) ready() bool {
	return m.instance != nil && !m.leaving() && m.instance.State == cloud.InstanceRunning && m.instance.Bootstrap.State == cloud.BootstrapSucceeded
}

// counted reports whether the cloud counts the instance as part of the pool: it has not begun to
// delete it.
func (m member) counted() bool {
	return m.instance != nil && m.instance.State != cloud.InstanceDeleting
}

// joined reports whether the Node of the member was seen in the cluster.
func (m member) joined() bool { return m.machine != nil && m.machine.Status.NodeRef.IsDefined() }

// unhealthy reports whether a MachineHealthCheck wants the member to be replaced.
func (m member) unhealthy() bool { return collections.IsUnhealthyAndOwnerRemediated(m.machine) }

// noticed reports whether the cloud has given notice that it will reclaim the instance, which works
// until then.
func (m member) noticed() bool {
	return m.instance != nil && m.instance.State == cloud.InstanceRunning && m.instance.ReclaimAt != nil
}

// waitsForCapacity reports whether the cloud has no room for the instance. Another instance in its
// place would wait as well.
func (m member) waitsForCapacity() bool {
	return m.instance != nil && m.instance.State == cloud.InstancePending && m.instance.Problem != nil &&
		m.instance.Problem.Reason == cloud.ReasonOutOfCapacity
}

// available reports whether the member's Node can take load, and has been able to for
// minReadySeconds.
func (m member) available() bool {
	return m.instance != nil && !m.leaving() && m.machine != nil && m.instance.State == cloud.InstanceRunning && !m.unhealthy() &&
		conditions.IsTrue(m.machine, clusterv1.MachineAvailableCondition)
}

// providerID returns the ID that Cluster API must know; empty once the Node may be deleted. The ID
// stays until both the instance and its FooMachine are gone, even for a lost instance, because its
// Machine is removed within the budget.
func (m member) providerID() string {
	switch {
	case m.instance != nil:
		return m.instance.ProviderID
	case m.fooMachine != nil:
		return m.fooMachine.Spec.ProviderID
	default:
		return ""
	}
}

func (m member) zone() string {
	if m.instance == nil {
		return ""
	}
	return m.instance.Zone
}

func (m member) createdAt() time.Time {
	if m.instance == nil {
		return time.Time{}
	}
	return m.instance.CreatedAt
}

// joiningSince returns when Cluster API could first see the Node of the member. A Machine that is
// younger than its instance, for example after a move to another management cluster, has no status
// until Cluster API has looked at the workload cluster.
func (m member) joiningSince() time.Time {
	if m.machine != nil && m.machine.CreationTimestamp.After(m.createdAt()) {
		return m.machine.CreationTimestamp.Time
	}
	return m.createdAt()
}

func (m member) hasAnnotation(key string) bool {
	if m.machine != nil {
		if _, ok := m.machine.Annotations[key]; ok {
			return true
		}
	}
	if m.fooMachine == nil {
		return false
	}
	_, ok := m.fooMachine.Annotations[key]
	return ok
}
