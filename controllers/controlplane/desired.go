// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/desiredstate"
	"sigs.k8s.io/cluster-api/util/labels/format"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// role is what a Machine does when it starts.
type role string

const (
	// roleInit runs kubeadm init.
	roleInit role = "init"
	// roleJoin runs kubeadm join.
	roleJoin role = "join"
)

// newMachine is a Machine with the two objects that it refers to. All three have the same name.
type newMachine struct {
	machine *clusterv1.Machine
	config  *bootstrapv1.KubeadmConfig
	infra   *unstructured.Unstructured
	// again means that an earlier attempt to create a Machine with this name failed.
	again bool
}

// desiredMachine computes a Machine with its KubeadmConfig and its infrastructure machine.
func (s *scope) desiredMachine(as role, random string, next plan.Decision) (newMachine, error) {
	name, err := machineName(s.controlPlane, s.cluster.Name, random)
	if err != nil {
		return newMachine{}, err
	}
	config, err := s.desiredConfig(name, as)
	if err != nil {
		return newMachine{}, err
	}
	infra, err := s.desiredInfraMachine(name)
	if err != nil {
		return newMachine{}, err
	}
	machine := &clusterv1.Machine{ObjectMeta: s.machineMeta(name), Spec: s.changeableSpec()}
	machine.Spec.ClusterName = s.cluster.Name
	machine.Spec.Version = s.controlPlane.Spec.Version
	machine.Spec.FailureDomain = next.FailureDomain
	machine.Spec.InfrastructureRef = referenceTo(infra.GroupVersionKind().Group, infra.GetKind(), name)
	machine.Spec.Bootstrap.ConfigRef = referenceTo(configKind.Group, configKind.Kind, name)
	machine.OwnerReferences = []metav1.OwnerReference{controllerReference(s.controlPlane)}
	machine.Annotations[controlplanev1.PreTerminateHookCleanupAnnotation] = ""
	if err := s.record(machine, next); err != nil {
		return newMachine{}, err
	}
	return newMachine{machine: machine, config: config, infra: infra}, nil
}

// record stores in annotations what a Machine is made from, and the remediation it is made for.
func (s *scope) record(machine *clusterv1.Machine, next plan.Decision) error {
	var err error
	if machine.Annotations[controlplanev1.MadeFromAnnotation], err = s.madeFrom.annotation(); err != nil {
		return err
	}
	if next.Remediation == nil {
		return nil
	}
	encoded, err := json.Marshal(next.Remediation)
	if err != nil {
		return fmt.Errorf("encoding a remediation: %w", err)
	}
	machine.Annotations[controlplanev1.RemediationForAnnotation] = string(encoded)
	return nil
}

func referenceTo(group, kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: kind, Name: name}
}

// machineMeta is the metadata that a Machine shares with the objects it refers to. The contract's
// labels take precedence over the template's.
func (s *scope) machineMeta(name string) metav1.ObjectMeta {
	labels := map[string]string{}
	maps.Copy(labels, s.controlPlane.Spec.MachineTemplate.ObjectMeta.Labels)
	labels[clusterv1.ClusterNameLabel] = s.cluster.Name
	labels[clusterv1.MachineControlPlaneLabel] = ""
	labels[clusterv1.MachineControlPlaneNameLabel] = format.MustFormatValue(s.controlPlane.Name)
	annotations := map[string]string{}
	maps.Copy(annotations, s.controlPlane.Spec.MachineTemplate.ObjectMeta.Annotations)
	return metav1.ObjectMeta{
		Namespace:   s.controlPlane.Namespace,
		Name:        name,
		Labels:      labels,
		Annotations: annotations,
	}
}

// plainReference owns an object until the Machine controller becomes its controller.
func (s *scope) plainReference() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: controlPlaneKind.GroupVersion().String(),
		Kind:       controlPlaneKind.Kind,
		Name:       s.controlPlane.Name,
		UID:        s.controlPlane.UID,
	}
}

func (s *scope) desiredConfig(name string, as role) (*bootstrapv1.KubeadmConfig, error) {
	spec, err := desiredConfigSpec(s.controlPlane, as)
	if err != nil {
		return nil, err
	}
	config := &bootstrapv1.KubeadmConfig{ObjectMeta: s.machineMeta(name), Spec: spec}
	config.OwnerReferences = []metav1.OwnerReference{s.plainReference()}
	return config, nil
}

// desiredConfigSpec keeps only the section that the role needs. The cluster configuration stays for
// a joining Machine too: the bootstrap provider reads from it where etcd runs and which folder
// holds the certificates.
func desiredConfigSpec(controlPlane *controlplanev1.FooControlPlane, as role) (bootstrapv1.KubeadmConfigSpec, error) {
	version, err := semver.ParseTolerant(controlPlane.Spec.Version)
	if err != nil {
		return bootstrapv1.KubeadmConfigSpec{}, fmt.Errorf("spec.version %q is not a version such as v1.36.3: %w", controlPlane.Spec.Version, err)
	}
	spec := controlPlane.Spec.KubeadmConfigSpec.DeepCopy()
	switch as {
	case roleInit:
		spec.JoinConfiguration = bootstrapv1.JoinConfiguration{}
	case roleJoin:
		spec.InitConfiguration = bootstrapv1.InitConfiguration{}
		if spec.JoinConfiguration.ControlPlane == nil {
			spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
		}
	}
	desiredstate.DefaultFeatureGates(spec, version)
	return *spec, nil
}

// desiredInfraMachine clones the template and records the template's name on the clone.
func (s *scope) desiredInfraMachine(name string) (*unstructured.Unstructured, error) {
	meta := s.machineMeta(name)
	owner := s.plainReference()
	object, err := external.GenerateTemplate(&external.GenerateTemplateInput{
		Template: s.template.DeepCopy(),
		TemplateRef: &corev1.ObjectReference{
			APIVersion: s.template.GetAPIVersion(),
			Kind:       s.template.GetKind(),
			Namespace:  s.template.GetNamespace(),
			Name:       s.template.GetName(),
		},
		Namespace:   meta.Namespace,
		Name:        meta.Name,
		ClusterName: s.cluster.Name,
		OwnerRef:    &owner,
		Labels:      meta.Labels,
		Annotations: meta.Annotations,
	})
	if err != nil {
		return nil, fmt.Errorf("cloning %s %s: %w", s.template.GetKind(), s.template.GetName(), err)
	}
	return object, nil
}

// readinessGates are the conditions that this controller sets on Machines, plus the user's.
func readinessGates(mode workload.EtcdMode, extra []clusterv1.MachineReadinessGate) []clusterv1.MachineReadinessGate {
	var gates []clusterv1.MachineReadinessGate
	known := map[string]bool{}
	add := func(gate clusterv1.MachineReadinessGate) {
		if !known[gate.ConditionType] {
			known[gate.ConditionType] = true
			gates = append(gates, gate)
		}
	}
	for _, component := range workload.Components(mode) {
		add(clusterv1.MachineReadinessGate{ConditionType: podConditions[component]})
	}
	if mode == workload.EtcdStacked {
		add(clusterv1.MachineReadinessGate{ConditionType: controlplanev1.MachineEtcdMemberHealthyCondition})
	}
	add(clusterv1.MachineReadinessGate{ConditionType: controlplanev1.MachineNodeKubeadmLabelsAndTaintsSetCondition})
	for _, gate := range extra {
		add(gate)
	}
	return gates
}

const randomLength = 5

// machineName renders spec.machineNaming.
func machineName(controlPlane *controlplanev1.FooControlPlane, cluster, random string) (string, error) {
	text := controlPlane.Spec.MachineNaming.Template
	name, err := controlplanerules.MachineName(text, controlplanerules.Names{
		Cluster: cluster, ControlPlane: controlPlane.Name, Random: random,
	})
	if err != nil {
		return "", fmt.Errorf("spec.machineNaming.template %q: %w", text, err)
	}
	return name, nil
}
