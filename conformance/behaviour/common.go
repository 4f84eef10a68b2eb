// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// notActed returns a problem if the provider has done its work for an object. A failed read says nothing about that.
func (s *story) notActed(object *unstructured.Unstructured, why string) (problem, err error) {
	undone, err := s.undone(object)
	if err == nil && undone == nil {
		problem = fmt.Errorf("the provider did its work for it although %s", why)
	}
	return problem, err
}

// checkNotActed checks that the provider has not done its work for an object.
func (s *story) checkNotActed(rule string, object *unstructured.Unstructured, why string) error {
	problem, err := s.notActed(object, why)
	if err == nil {
		s.check(rule, problem)
	}
	return err
}

// pauseOfCluster pauses the Cluster before the object exists, and resumes it.
func pauseOfCluster(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	if err := errors.Join(s.pauseCluster(true), s.Create(s.ctx, object)); err != nil {
		return err
	}
	if s.wants("paused-condition") {
		s.check("paused-condition", s.until("paused", func() error { return s.paused(object, "True") }))
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.checkNotActed("pausing", object, "spec.paused of the Cluster is true"); err != nil {
		return err
	}
	if err := s.pauseCluster(false); err != nil {
		return err
	}
	resumed := s.until("after spec.paused of the Cluster became false", func() error { return s.acted(object) })
	s.check("pause-resumes", resumed)
	if resumed == nil && s.wants("paused-condition") {
		s.check("paused-condition", s.until("resumed", func() error { return s.paused(object, "False") }))
	}
	return nil
}

// paused reads an object, and returns nil if its condition Paused has the status.
func (s *story) paused(object *unstructured.Unstructured, status string) error {
	if err := s.read(object); err != nil {
		return err
	}
	if got := fields.StatusOf(object, clusterv1.PausedCondition); got != status {
		return fmt.Errorf("the condition Paused is %q, want %q", got, status)
	}
	return nil
}

func pauseByAnnotation(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	annotate(object, clusterv1.PausedAnnotation, "true")
	if err := s.Create(s.ctx, object); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.checkNotActed("pausing", object, "it has the annotation "+clusterv1.PausedAnnotation); err != nil {
		return err
	}
	if err := s.change(object, func() {
		annotations := object.GetAnnotations()
		delete(annotations, clusterv1.PausedAnnotation)
		object.SetAnnotations(annotations)
	}); err != nil {
		return err
	}
	s.check("pause-resumes", s.until("after the annotation "+clusterv1.PausedAnnotation+" was removed", func() error { return s.acted(object) }))
	return nil
}

// pauseOfDeletion deletes an object that is paused halfway through its life.
func pauseOfDeletion(s *story) error {
	if err := s.checker.deletes(s); err != nil {
		return err
	}
	object, err := s.ready()
	if err != nil {
		return err
	}
	if len(object.GetFinalizers()) == 0 {
		// The API server deletes it without asking the provider.
		s.check("pausing", nil)
		s.check("pause-resumes", nil)
		return nil
	}
	if err := errors.Join(s.pauseCluster(true), s.settle()); err != nil {
		return err
	}
	if err := errors.Join(s.Delete(s.ctx, object), s.settle()); err != nil {
		return err
	}
	exists, err := s.exists(object)
	if err != nil {
		return err
	}
	if !exists {
		s.check("pausing", errors.New("its finalizer was removed although spec.paused of the Cluster is true"))
		return nil
	}
	s.check("pausing", nil)
	if err := s.pauseCluster(false); err != nil {
		return err
	}
	s.check("pause-resumes", s.untilGone(object, "it was deleted while spec.paused of the Cluster was true, and that is false now"))
	return nil
}

// waitForOwner creates an object before Cluster API has set its owner.
func waitForOwner(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	owners := object.GetOwnerReferences()
	object.SetOwnerReferences(nil)
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	problem, err := s.notActed(object, "it has no owner reference yet")
	if err != nil {
		return err
	}
	if problem == nil {
		if err := s.change(object, func() { object.SetOwnerReferences(owners) }); err != nil {
			return err
		}
		problem = s.until("after its owner reference was set", func() error { return s.acted(object) })
	}
	s.check("waits-for-owner", problem)
	return nil
}

// deletionUnowned deletes an object whose owner Cluster API never set.
func deletionUnowned(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	object.SetOwnerReferences(nil)
	if err := errors.Join(s.Create(s.ctx, object), s.settle(), s.Delete(s.ctx, object)); err != nil {
		return err
	}
	s.check("deletion-unowned", s.untilGone(object, "it was deleted before it had an owner reference"))
	return nil
}

func deletion(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.Delete(s.ctx, object); err != nil {
		return err
	}
	s.check("deletion", s.untilGone(object, "it was deleted"))
	return nil
}

// untilGone waits until a deleted object is gone. Meanwhile it deletes Machines as Cluster API does:
// with what they refer to.
func (s *story) untilGone(object *unstructured.Unstructured, since string) error {
	return s.until("although "+since, func() error {
		if err := s.gone(object); err == nil {
			return nil
		}
		if err := s.finishMachines(); err != nil {
			return err
		}
		return s.gone(object)
	})
}

// finishMachines lets Machines go that are being deleted.
func (s *story) finishMachines() error {
	machines, err := s.machines()
	if err != nil {
		return err
	}
	for i := range machines {
		machine := &machines[i]
		if machine.DeletionTimestamp.IsZero() || s.machine != nil && machine.Name == s.machine.Name {
			continue
		}
		if err := s.deleteInfraOf(machine); err != nil {
			return err
		}
	}
	return nil
}

// deleteInfraOf deletes what a Machine stands for, and lets the Machine go once that is gone.
func (s *story) deleteInfraOf(machine *clusterv1.Machine) error {
	infra := &unstructured.Unstructured{}
	reference := machine.Spec.InfrastructureRef
	for kind := range s.checker.Environment.crds {
		if kind.Group != reference.APIGroup || kind.Kind != reference.Kind {
			continue
		}
		version, err := s.checker.Environment.version(kind, s.contract)
		if err != nil {
			return err
		}
		infra.SetGroupVersionKind(version)
		infra.SetNamespace(s.namespace)
		infra.SetName(reference.Name)
		if err := client.IgnoreNotFound(s.Delete(s.ctx, infra)); err != nil {
			return err
		}
		if exists, err := s.exists(infra); err != nil || exists {
			return err
		}
	}
	return client.IgnoreNotFound(s.change(machine, func() { machine.Finalizers = nil }))
}

// deletionAfterCluster deletes an object whose Cluster is gone, as when somebody deletes a namespace
// or removes finalizers by hand.
func deletionAfterCluster(s *story) error {
	if err := s.checker.deletes(s); err != nil {
		return err
	}
	object, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.change(s.cluster, func() { s.cluster.Finalizers = nil }); err != nil {
		return err
	}
	if err := errors.Join(s.remove(s.cluster), s.Delete(s.ctx, object)); err != nil {
		return err
	}
	s.check("deletion-after-cluster", s.untilGone(object, "it was deleted after its Cluster"))
	return nil
}

// lostStatus wipes the status, as clusterctl move and backups do.
func lostStatus(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	// The Machines of a pool come after its machines, and the provider may wait for them.
	if err := errors.Join(s.settle(), s.acted(object), s.settle(), s.read(object)); err != nil {
		return err
	}
	before := object.DeepCopy()
	machines, err := s.machines()
	if err != nil {
		return err
	}
	// The provider may write the object in between.
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := s.read(object); err != nil {
			return err
		}
		delete(object.Object, "status")
		return s.Status().Update(s.ctx, object, fieldOwner)
	}); err != nil {
		return err
	}
	// A status that nobody but the provider should write need not wake it.
	if err := s.change(object, func() { annotate(object, "conformance.example.com/touched", "true") }); err != nil {
		return err
	}
	problem := s.until("after its status was lost", func() error { return s.rebuilt(object, before) })
	if problem == nil {
		problem = s.settle()
	}
	if now, err := s.machines(); err != nil {
		return err
	} else if problem == nil && names(now) != names(machines) {
		problem = fmt.Errorf("after its status was lost, the Machines are %s instead of %s", names(now), names(machines))
	}
	s.check("lost-status", problem)
	return nil
}

// rebuilt reads an object, and returns nil once it reports what it did before.
func (s *story) rebuilt(object, before *unstructured.Unstructured) error {
	if err := s.acted(object); err != nil {
		return err
	}
	return fields.Rebuilt(before, object)
}
