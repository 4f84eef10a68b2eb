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
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownedfields"
)

const (
	// creatorManager is the field manager that Machines and what they refer to are created by.
	creatorManager = "foo-controlplane"
	// metadataManager is the field manager of the template's labels and annotations.
	metadataManager = "foo-controlplane-metadata"
	// settingsManager is the field manager of what a Machine's spec has from the template and may change in place.
	settingsManager = "foo-controlplane-settings"
)

var (
	machineKind = clusterv1.GroupVersion.WithKind("Machine")
	configKind  = bootstrapv1.GroupVersion.WithKind("KubeadmConfig")
)

// propagate has what may change without a rollout reach the Machines that exist: the template's labels and annotations,
// which the KubeadmConfig and the infrastructure machine get too, and a Machine's deletion timeouts, readiness gates and
// taints. A Machine that is being deleted gets only the latter, which say how long its end may take. The record of what a
// Machine is made from is brought up to date as well.
//
//contract:control-plane/metadata-propagation
func (r *Reconciler) propagate(ctx context.Context, s *scope) error {
	if s.deleting() {
		return nil
	}
	var failed []error
	for _, machine := range s.machines {
		err := r.propagateTo(ctx, s, machine)
		switch {
		case errors.Is(err, ownedfields.ErrGone), apierrors.IsConflict(err):
			return errStale
		case err != nil:
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (r *Reconciler) propagateTo(ctx context.Context, s *scope, machine *clusterv1.Machine) error {
	settings, err := s.settingsPart()
	if err != nil {
		return err
	}
	if err := r.keepTyped(ctx, machine, machineKind, settings); err != nil {
		return err
	}
	if !machine.DeletionTimestamp.IsZero() {
		return nil
	}
	metadata := s.metadataPart()
	if err := r.keepTyped(ctx, machine, machineKind, metadata); err != nil {
		return err
	}
	if err := r.keepRecord(ctx, s, machine); err != nil {
		return err
	}
	if config, ok := s.configs[machine.Name]; ok {
		if err := r.keepTyped(ctx, config, configKind, metadata); err != nil {
			return err
		}
	}
	infra, ok := s.infraMachines[machine.Name]
	if !ok {
		return nil
	}
	written, err := r.fields.Keep(ctx, infra, metadata)
	if err == nil && written != nil {
		s.infraMachines[machine.Name] = written
	}
	return err
}

// keepTyped keeps a part of an object of the scope, which afterwards is as it was written.
func (r *Reconciler) keepTyped(ctx context.Context, object client.Object, kind schema.GroupVersionKind, part ownedfields.Part) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("converting %s %s: %w", kind.Kind, object.GetName(), err)
	}
	converted := &unstructured.Unstructured{Object: content}
	converted.SetGroupVersionKind(kind)
	written, err := r.fields.Keep(ctx, converted, part)
	if err != nil || written == nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, object); err != nil {
		return fmt.Errorf("converting %s %s: %w", kind.Kind, object.GetName(), err)
	}
	return nil
}

// metadataPart is the template's labels and annotations with the labels of the contract.
func (s *scope) metadataPart() ownedfields.Part {
	meta := s.machineMeta("")
	metadata := map[string]any{"labels": anyMap(meta.Labels)}
	if len(meta.Annotations) > 0 {
		metadata["annotations"] = anyMap(meta.Annotations)
	}
	return ownedfields.Part{
		Manager:  metadataManager,
		Creator:  creatorManager,
		Fields:   map[string]any{"metadata": metadata},
		Places:   []ownedfields.Place{{Path: []string{"metadata", "labels"}}, {Path: []string{"metadata", "annotations"}}},
		Fixed:    []string{clusterv1.ClusterNameLabel, clusterv1.MachineControlPlaneLabel, clusterv1.MachineControlPlaneNameLabel},
		Takeover: ownedfields.TakeoverSaid,
	}
}

func anyMap(values map[string]string) map[string]any {
	result := map[string]any{}
	for key, value := range maps.All(values) {
		result[key] = value
	}
	return result
}

// settingsPart is what a Machine's spec has from the template and may change in place.
func (s *scope) settingsPart() (ownedfields.Part, error) {
	template := s.controlPlane.Spec.MachineTemplate.Spec
	machine := &clusterv1.Machine{Spec: clusterv1.MachineSpec{
		ReadinessGates: readinessGates(s.etcdMode(), template.ReadinessGates),
		Taints:         template.Taints,
		Deletion:       machineDeletion(template.Deletion),
	}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(machine)
	if err != nil {
		return ownedfields.Part{}, fmt.Errorf("converting spec.machineTemplate.spec: %w", err)
	}
	spec := map[string]any{}
	for _, name := range []string{"readinessGates", "taints", "deletion"} {
		if value, ok, err := unstructured.NestedFieldNoCopy(content, "spec", name); ok && err == nil {
			spec[name] = value
		}
	}
	return ownedfields.Part{
		Manager: settingsManager,
		Creator: creatorManager,
		Fields:  map[string]any{"spec": spec},
		Places: []ownedfields.Place{
			{Path: []string{"spec", "readinessGates"}, Keys: []string{"conditionType"}},
			{Path: []string{"spec", "taints"}, Keys: []string{"key", "effect"}},
			{Path: []string{"spec", "deletion"}},
		},
		Takeover: ownedfields.TakeoverAll,
	}, nil
}

func machineDeletion(template controlplanev1.FooControlPlaneMachineTemplateDeletionSpec) clusterv1.MachineDeletionSpec {
	return clusterv1.MachineDeletionSpec{
		NodeDrainTimeoutSeconds:        template.NodeDrainTimeoutSeconds,
		NodeVolumeDetachTimeoutSeconds: template.NodeVolumeDetachTimeoutSeconds,
		NodeDeletionTimeoutSeconds:     template.NodeDeletionTimeoutSeconds,
	}
}
