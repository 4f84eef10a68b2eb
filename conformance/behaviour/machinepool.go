// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func poolScenarios() []scenario {
	return []scenario{
		{lifeOf + "a pool", InfraMachinePool, Provisioned, []string{
			"initialization", "provider-id-list", "replicas", "instances", "infrastructure-machine-kind", "conditions", "conditions-implemented", "ready-condition",
		}, lifeOfPool},
		{"scale of a pool", InfraMachinePool, Provisioned, []string{"scale", "machine-deletion"}, scaleOfPool},
		{"replicas that somebody else manages", InfraMachinePool, Provisioned, []string{"externally-managed-replicas"}, externallyManagedReplicas},
	}
}

func lifeOfPool(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	if err := s.Create(s.ctx, object); err != nil {
		return err
	}
	if err := s.until("after the MachinePool got its bootstrap data", func() error { return s.acted(object) }); err != nil {
		return err
	}
	if s.wants("initialization") {
		s.check("initialization", s.until("after status.ready became true", func() error {
			if err := s.read(object); err != nil {
				return err
			}
			return fields.IsTrue(object, "status.initialization.provisioned")
		}))
	}
	s.check("provider-id-list", s.until("after it was provisioned", func() error { return s.sized(object, poolReplicas) }))
	s.check("replicas", s.until("after it was provisioned", func() error { return s.counts(object, poolReplicas) }))
	if s.wants("instances") {
		s.check("instances", s.until("after it was provisioned", func() error { return checkInstances(object) }))
	}
	if s.wants("infrastructure-machine-kind") {
		s.check("infrastructure-machine-kind", s.checkInfraMachines(object))
	}
	if err := s.playPool(object); err != nil {
		return err
	}
	return s.checkReady(object)
}

// sized reads a pool, and returns nil if it lists that many instances.
func (s *story) sized(object *unstructured.Unstructured, count int) error {
	if err := errors.Join(s.playPool(object), s.read(object)); err != nil {
		return err
	}
	list := fields.Texts(object, "spec.providerIDList")
	sorted := slices.Sorted(slices.Values(list))
	if len(list) != count || len(slices.Compact(sorted)) != count || slices.Contains(list, "") {
		return fmt.Errorf("spec.providerIDList is %s, want %d different IDs", fields.Show(fields.At(object, "spec.providerIDList")), count)
	}
	return nil
}

// lists is like sized, but the IDs need not differ.
func (s *story) lists(object *unstructured.Unstructured, count int) error {
	if err := errors.Join(s.playPool(object), s.read(object)); err != nil {
		return err
	}
	if list := fields.Texts(object, "spec.providerIDList"); len(list) != count {
		return fmt.Errorf("spec.providerIDList is %s, want %d IDs", fields.Show(fields.At(object, "spec.providerIDList")), count)
	}
	return nil
}

func (s *story) counts(object *unstructured.Unstructured, count int) error {
	if err := s.read(object); err != nil {
		return err
	}
	if got := fields.Number(object, "status.replicas"); got != int64(count) {
		return fmt.Errorf("status.replicas is %s, want %d", fields.Show(fields.At(object, "status.replicas")), count)
	}
	return nil
}

func checkInstances(object *unstructured.Unstructured) error {
	if list, _ := fields.At(object, "status.instances").([]any); len(list) != poolReplicas {
		return fmt.Errorf("status.instances is %s, want %d", fields.Show(fields.At(object, "status.instances")), poolReplicas)
	}
	return nil
}

// checkInfraMachines checks that there is an infrastructure machine of the kind that the pool names
// for each instance.
func (s *story) checkInfraMachines(object *unstructured.Unstructured) error {
	if fields.Text(object, "status.infrastructureMachineKind") == "" {
		return errors.New("status.infrastructureMachineKind is not set")
	}
	return s.until("infrastructure machines", func() error {
		members, err := s.members(object)
		if err == nil && len(members) != poolReplicas {
			err = fmt.Errorf("%d objects of the kind %s have the labels of the pool, want %d", len(members), fields.Text(object, "status.infrastructureMachineKind"), poolReplicas)
		}
		return err
	})
}

// members returns the infrastructure machines of a pool, as Cluster API finds them.
func (s *story) members(object *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	kind := fields.Text(object, "status.infrastructureMachineKind")
	if kind == "" {
		return nil, nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(object.GroupVersionKind().GroupVersion().WithKind(kind + "List"))
	err := s.List(s.ctx, list, client.InNamespace(s.namespace), client.MatchingLabels{
		clusterv1.ClusterNameLabel: s.namespace, clusterv1.MachinePoolNameLabel: s.pool.Name,
	})
	return list.Items, err
}

// playPool does what Cluster API does for a pool with Machines: it creates a Machine for each
// infrastructure machine, and deletes both together.
func (s *story) playPool(object *unstructured.Unstructured) error {
	if err := s.read(object); err != nil {
		return client.IgnoreNotFound(err)
	}
	members, err := s.members(object)
	if err != nil {
		return err
	}
	for i := range members {
		if err := s.giveMachine(&members[i]); err != nil {
			return err
		}
	}
	return s.finishMachines()
}

// giveMachine creates the Machine of an infrastructure machine, unless it exists.
func (s *story) giveMachine(member *unstructured.Unstructured) error {
	if !member.GetDeletionTimestamp().IsZero() || metav1.GetControllerOf(member) != nil {
		return nil
	}
	machine := s.newMachine(member.GetName(), member, nil)
	machine.Labels[clusterv1.MachinePoolNameLabel] = s.pool.Name
	machine.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{}
	machine.Spec.Bootstrap.DataSecretName = ptr.To("")
	setOwner(machine, s.pool, "MachinePool")
	if err := s.Create(s.ctx, machine); err != nil {
		return err
	}
	return s.change(member, func() {
		owners := member.GetOwnerReferences()
		setOwner(member, machine, "Machine")
		member.SetOwnerReferences(append(owners, member.GetOwnerReferences()...))
	})
}

// scaleOfPool changes the replicas of a pool in both directions.
func scaleOfPool(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	var problem, machines error
	for _, replicas := range []int{poolReplicas + 1, poolReplicas - 1} {
		if err := s.change(s.pool, func() { s.pool.Spec.Replicas = ptr.To(int32(replicas)) }); err != nil {
			return err
		}
		what := fmt.Sprintf("after spec.replicas of the MachinePool became %d", replicas)
		problem = errors.Join(problem, s.until(what, func() error { return s.lists(object, replicas) }))
		if s.wants("machine-deletion") && problem == nil {
			machines = errors.Join(machines, s.until(what, func() error { return s.hasMembers(object, replicas) }))
		}
	}
	s.check("scale", problem)
	if problem == nil && fields.Text(object, "status.infrastructureMachineKind") != "" {
		s.check("machine-deletion", machines)
	}
	return nil
}

func (s *story) hasMembers(object *unstructured.Unstructured, count int) error {
	if err := s.playPool(object); err != nil {
		return err
	}
	members, err := s.members(object)
	if err == nil && len(members) != count {
		err = fmt.Errorf("the pool has %d infrastructure machines, want %d", len(members), count)
	}
	return err
}

// externallyManagedReplicas changes the replicas of a pool that an autoscaler manages.
func externallyManagedReplicas(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.until("its instances", func() error { return s.lists(object, poolReplicas) }); err != nil {
		return err
	}
	if err := s.change(s.pool, func() {
		s.pool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
	}); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.change(s.pool, func() { s.pool.Spec.Replicas = ptr.To[int32](poolReplicas - 1) }); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	problem := s.lists(object, poolReplicas)
	if problem != nil {
		problem = fmt.Errorf("the MachinePool has the annotation %s, and the provider removed an instance: %w", clusterv1.ReplicasManagedByAnnotation, problem)
	}
	s.check("externally-managed-replicas", problem)
	return nil
}
