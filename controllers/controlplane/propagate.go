// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

const (
	// creatorManager is the field manager that creates Machines and the objects they refer to.
	creatorManager = "foo-controlplane"
	// metadataManager is the field manager of the template's labels and annotations.
	metadataManager = "foo-controlplane-metadata"
	// settingsManager is the field manager of the mutable fields that a Machine's spec gets from the
	// template.
	settingsManager = "foo-controlplane-settings"
	// appliedKnown limits what is remembered: four applies for each of 15,000 Machines. A forgotten
	// apply is repeated once.
	appliedKnown = 60000
)

var configKind = bootstrapv1.GroupVersion.WithKind("KubeadmConfig")

// creators are the field managers that may have created Machines and the objects they refer to:
// this controller, KubeadmControlPlane for adopted Machines, and the API server's name for objects
// restored without managed fields.
var creators = []string{creatorManager, "capi-kubeadmcontrolplane", "capi-kubeadmcontrolplane-metadata", "before-first-apply"}

// propagate applies changes that need no rollout to existing Machines: the template's labels and
// annotations, also to the KubeadmConfig and the infrastructure machine, and the Machine's deletion
// timeouts, readiness gates and taints. A Machine that is being deleted gets only its spec fields,
// since the timeouts still matter to it. It also updates the record of what a Machine is made from.
//
// A new Machine is created with all of these. Until it has a Node, Cluster API writes to it and its
// objects many times, and would have to repeat each write that conflicts with ours. So nothing is
// applied before then unless the template changes.
func (r *Reconciler) propagate(ctx context.Context, s *scope) error {
	if s.deleting() {
		return nil
	}
	settings, err := s.settings()
	if err != nil {
		return err
	}
	var failed []error
	for _, machine := range s.machines {
		err := r.propagateTo(ctx, s, machine, settings)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return fmt.Errorf("%w: %w", errStale, err)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func (r *Reconciler) propagateTo(ctx context.Context, s *scope, machine *clusterv1.Machine, settings map[string]any) error {
	metadata := s.metadata()
	if s.nodeName(machine) == "" && reflect.DeepEqual(s.memory.made, &made{machine: machine.Name, settings: settings, metadata: metadata}) {
		if !machine.DeletionTimestamp.IsZero() {
			return nil
		}
		return errors.Join(r.hook(ctx, machine), r.keepRecord(ctx, s, machine))
	}
	if err := r.applyMade(ctx, s, machine); err != nil {
		return err
	}
	return r.propagateThese(ctx, s, machine, settings, metadata)
}

// applyMade first applies what a Machine was made with, once. Otherwise fields that the template
// drops would stay, since server-side apply removes only fields that it applied before.
func (r *Reconciler) applyMade(ctx context.Context, s *scope, machine *clusterv1.Machine) error {
	made := s.memory.made
	if made == nil || made.machine != machine.Name {
		return nil
	}
	if err := r.propagateThese(ctx, s, machine, made.settings, made.metadata); err != nil {
		return err
	}
	_, config := s.configs[machine.Name]
	if _, infra := s.infraMachines[machine.Name]; config && infra {
		s.memory.made = nil
	}
	return nil
}

func (r *Reconciler) propagateThese(ctx context.Context, s *scope, machine *clusterv1.Machine, settings, metadata map[string]any) error {
	if err := r.applyFields(ctx, machine, settingsManager, settings); err != nil || !machine.DeletionTimestamp.IsZero() {
		return err
	}
	if err := r.hook(ctx, machine); err != nil {
		return err
	}
	if err := r.applyFields(ctx, machine, metadataManager, metadata); err != nil {
		return err
	}
	if err := r.keepRecord(ctx, s, machine); err != nil {
		return err
	}
	if config, ok := s.configs[machine.Name]; ok {
		if err := r.applyFields(ctx, config, metadataManager, metadata); err != nil {
			return err
		}
	}
	if infra, ok := s.infraMachines[machine.Name]; ok {
		return r.applyFields(ctx, infra, metadataManager, metadata)
	}
	return nil
}

// applied identifies the fields of one manager on one object.
type applied struct {
	object  types.UID
	manager string
}

// applyFields applies fields as a field manager, which removes fields that it applied before and no
// longer sets. It updates the object with the response. It sends nothing if the same was applied
// last and is still there.
func (r *Reconciler) applyFields(ctx context.Context, object client.Object, manager string, fields map[string]any) error {
	digest, err := hash(fields)
	if err != nil {
		return err
	}
	current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("converting %T %s: %w", object, object.GetName(), err)
	}
	key := applied{object: object.GetUID(), manager: manager}
	if last, ok := r.applied.Get(key); ok && last == digest && contains(current, fields) {
		return nil
	}
	kind, err := r.client.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Errorf("finding the kind of %T %s: %w", object, object.GetName(), err)
	}
	wanted := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(fields)}
	wanted.SetGroupVersionKind(kind)
	wanted.SetNamespace(object.GetNamespace())
	wanted.SetName(object.GetName())
	// With the UID, the API server does not recreate an object that has just been deleted. With the
	// version, this fails if the object has changed; see keepRecord.
	wanted.SetUID(object.GetUID())
	wanted.SetResourceVersion(object.GetResourceVersion())
	err = r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(manager), client.ForceOwnership)
	if err == nil {
		err = r.disown(ctx, wanted)
	}
	if err != nil {
		return fmt.Errorf("applying %s to %s %s: %w", manager, kind.Kind, object.GetName(), err)
	}
	r.applied.Add(key, digest)
	return r.client.Scheme().Convert(wanted, object, nil)
}

// disown drops the fields of the object's creator from the managed fields, since they would outlive
// their removal from the template. The creator's entry is the one with the cluster's label.
func (r *Reconciler) disown(ctx context.Context, object *unstructured.Unstructured) error {
	managers := slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return slices.Contains(creators, entry.Manager) && entry.Subresource == "" && entry.FieldsV1 != nil &&
			bytes.Contains(entry.FieldsV1.GetRawBytes(), []byte(`"f:`+clusterv1.ClusterNameLabel+`"`))
	})
	if len(managers) == len(object.GetManagedFields()) {
		return nil
	}
	before := object.DeepCopy()
	object.SetManagedFields(managers)
	// With the lock, a concurrent write keeps its managed fields.
	return r.client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// contains reports whether one JSON value contains another. The order of list items does not
// matter. Empty values are contained in everything.
func contains(current, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		object, _ := current.(map[string]any)
		for key, value := range wanted {
			if !contains(object[key], value) {
				return false
			}
		}
		return true
	case []any:
		list, _ := current.([]any)
		return !slices.ContainsFunc(wanted, func(item any) bool {
			return !slices.ContainsFunc(list, func(one any) bool { return contains(one, item) })
		})
	}
	return current == wanted
}

// metadata is the template's labels and annotations plus the contract's labels.
func (s *scope) metadata() map[string]any {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	meta := s.machineMeta("")
	object.SetLabels(meta.Labels)
	object.SetAnnotations(meta.Annotations)
	return object.Object
}

// settings is changeableSpec as it is applied.
func (s *scope) settings() (map[string]any, error) {
	spec := s.changeableSpec()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return nil, fmt.Errorf("converting spec.machineTemplate.spec: %w", err)
	}
	return map[string]any{"spec": content}, nil
}

// changeableSpec holds only the mutable fields that a Machine's spec gets from the template.
func (s *scope) changeableSpec() clusterv1.MachineSpec {
	template := s.controlPlane.Spec.MachineTemplate.Spec
	return clusterv1.MachineSpec{
		ReadinessGates: readinessGates(s.etcdMode(), template.ReadinessGates),
		Taints:         template.Taints,
		Deletion:       clusterv1.MachineDeletionSpec(template.Deletion),
	}
}

// avoidOutdatedNodes makes the scheduler avoid the Nodes of Machines that a rollout replaces.
// Otherwise Pods evicted from one of them may move to the next one to be drained, and Cluster API
// checks only every 20 s whether a drain is complete.
func (r *Reconciler) avoidOutdatedNodes(ctx context.Context, s *scope, seen plan.State) error {
	if s.observation == nil {
		return nil
	}
	var errs []error
	for _, machine := range seen.Machines {
		node, ok := s.observation.Node(machine.Node)
		if goes := seen.Replaceable(machine); ok && node.Avoided != goes {
			errs = append(errs, r.workload.AvoidNode(ctx, s.key(), node.Name, goes))
		}
	}
	return errors.Join(errs...)
}
