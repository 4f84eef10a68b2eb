// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

const (
	// settingsManager is the field manager of what Machines get from their MachinePool's template
	// in addition to what Cluster API gives them.
	settingsManager = "foo-machinepool-settings"
	// metadataManager is the field manager of the labels and annotations that FooMachines get from
	// their MachinePool's template.
	metadataManager = "foo-machinepool-metadata"
	// ownerManager is the field manager of the owner references that FooMachines had lost.
	ownerManager = "foo-machinepool-owner"
	// appliedAnnotation identifies what was applied last, so that a settled pool is not written,
	// and what is no longer wanted is removed.
	appliedAnnotation = "infrastructure.cluster.x-k8s.io/applied-from-pool"
)

// application holds the fields of one manager on one object, for server-side apply.
type application struct {
	manager string
	object  *unstructured.Unstructured
}

// settings are the fields of a Machine that Cluster API does not copy from the template of a
// MachinePool.
type settings struct {
	MinReadySeconds *int32                           `json:"minReadySeconds,omitempty"`
	ReadinessGates  []clusterv1.MachineReadinessGate `json:"readinessGates,omitempty"`
	Deletion        clusterv1.MachineDeletionSpec    `json:"deletion,omitempty,omitzero"`
}

// metadata are the labels and annotations of a FooMachine.
type metadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// propagation returns what Machines and FooMachines lack: owner references, and parts of the
// MachinePool's template. Machines that are being deleted get it too, because a deletion timeout
// may help them to finish.
func propagation(s *scope) []application {
	missing := ownership(s)
	if s.machinePool == nil {
		return missing
	}
	wantSettings, wantMetadata := settingsOf(s.machinePool), metadataOf(s.machinePool)
	settingsName, metadataName := nameOf(wantSettings), nameOf(wantMetadata)
	for _, m := range s.members {
		if m.machine != nil && (m.machine.Annotations[appliedAnnotation] != settingsName || !wantSettings.holdFor(m.machine)) {
			missing = append(missing, wantSettings.applyTo(m.machine, settingsName))
		}
		if m.fooMachine == nil || !m.fooMachine.DeletionTimestamp.IsZero() {
			continue
		}
		if m.fooMachine.Annotations[appliedAnnotation] != metadataName || !wantMetadata.holdsFor(m.fooMachine) {
			missing = append(missing, wantMetadata.applyTo(m.fooMachine, metadataName))
		}
	}
	return missing
}

// ownership returns the owner references that FooMachines lack, or have with another version of the
// API. Without them, changes of a FooMachine, even its removal, would not wake the controller.
func ownership(s *scope) []application {
	want := s.reference()
	var missing []application
	for _, m := range s.members {
		if m.fooMachine == nil || util.HasExactOwnerRef(m.fooMachine.OwnerReferences, want) {
			continue
		}
		applied := newApplication(ownerManager, infrav1.GroupVersion.WithKind(infrav1.InfrastructureMachineKind), m.fooMachine)
		applied.object.SetOwnerReferences([]metav1.OwnerReference{want})
		missing = append(missing, applied)
	}
	return missing
}

func settingsOf(machinePool *clusterv1.MachinePool) settings {
	template := machinePool.Spec.Template.Spec
	return settings{MinReadySeconds: template.MinReadySeconds, ReadinessGates: template.ReadinessGates, Deletion: template.Deletion}
}

// metadataOf leaves out the labels by which objects are found.
func metadataOf(machinePool *clusterv1.MachinePool) metadata {
	template := machinePool.Spec.Template
	want := metadata{Labels: map[string]string{}, Annotations: template.Annotations}
	for key, value := range template.Labels {
		if key != clusterv1.ClusterNameLabel && key != clusterv1.MachinePoolNameLabel && key != clusterv1.WatchLabel {
			want.Labels[key] = value
		}
	}
	return want
}

// nameOf returns a hash of what is applied. It is empty for nothing, as it is before anything was
// applied.
func nameOf(want any) string {
	encoded, err := json.Marshal(want)
	if err != nil || string(encoded) == "{}" {
		return ""
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:revisionLength]
}

func (s settings) holdFor(machine *clusterv1.Machine) bool {
	return holds(s.MinReadySeconds, machine.Spec.MinReadySeconds) &&
		holds(s.Deletion.NodeDrainTimeoutSeconds, machine.Spec.Deletion.NodeDrainTimeoutSeconds) &&
		holds(s.Deletion.NodeVolumeDetachTimeoutSeconds, machine.Spec.Deletion.NodeVolumeDetachTimeoutSeconds) &&
		holds(s.Deletion.NodeDeletionTimeoutSeconds, machine.Spec.Deletion.NodeDeletionTimeoutSeconds) &&
		!slices.ContainsFunc(s.ReadinessGates, func(gate clusterv1.MachineReadinessGate) bool {
			return !slices.Contains(machine.Spec.ReadinessGates, gate)
		})
}

// holds reports whether the wanted value is set; if nothing is wanted, any value may be set.
func holds(want, have *int32) bool { return want == nil || ptr.Equal(want, have) }

func (s settings) applyTo(machine *clusterv1.Machine, name string) application {
	applied := newApplication(settingsManager, clusterv1.GroupVersion.WithKind("Machine"), machine)
	// It cannot fail: all of it came from JSON.
	if spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s); err == nil && len(spec) > 0 {
		applied.object.Object["spec"] = spec
	}
	if name != "" {
		annotations.AddAnnotations(applied.object, map[string]string{appliedAnnotation: name})
	}
	return applied
}

func (m metadata) holdsFor(fooMachine *infrav1.FooMachine) bool {
	return contains(fooMachine.Labels, m.Labels) && contains(fooMachine.Annotations, m.Annotations)
}

func (m metadata) applyTo(fooMachine *infrav1.FooMachine, name string) application {
	applied := newApplication(metadataManager, infrav1.GroupVersion.WithKind(infrav1.InfrastructureMachineKind), fooMachine)
	if len(m.Labels) > 0 {
		applied.object.SetLabels(m.Labels)
	}
	annotations.AddAnnotations(applied.object, m.Annotations)
	if name != "" {
		annotations.AddAnnotations(applied.object, map[string]string{appliedAnnotation: name})
	}
	return applied
}

// newApplication returns an empty application. The UID keeps it from recreating an object that is
// gone by now.
func newApplication(manager string, kind schema.GroupVersionKind, to client.Object) application {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(to.GetNamespace())
	object.SetName(to.GetName())
	object.SetUID(to.GetUID())
	return application{manager: manager, object: object}
}

func contains(have, want map[string]string) bool {
	for key, value := range want {
		if got, ok := have[key]; !ok || got != value {
			return false
		}
	}
	return true
}
