// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"cmp"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const (
	machineName  = "machine"
	poolName     = "pool"
	poolReplicas = 2
)

// prepare creates everything that an object of the story's kind needs, and returns the object,
// which is not created yet.
func (s *story) prepare() (*unstructured.Unstructured, error) {
	switch s.role {
	case InfraCluster:
		return s.prepareInfraCluster()
	case InfraMachine:
		return s.prepareInfraMachine(machineName)
	case InfraMachinePool:
		return s.prepareInfraMachinePool()
	case ControlPlane:
		return s.prepareControlPlane()
	case BootstrapConfig:
		return s.prepareBootstrapConfig()
	default:
		return nil, fmt.Errorf("%s has no objects", s.role)
	}
}

// acted reads an object, and returns nil once the provider did its work for it. The machines of a pool may wait
// for their Machines before.
func (s *story) acted(object *unstructured.Unstructured) error {
	if s.role == InfraMachinePool {
		if err := s.playPool(object); err != nil {
			return err
		}
	}
	undone, err := s.undone(object)
	return cmp.Or(err, undone)
}

// undone reads an object, and returns what the provider has not done for it yet.
func (s *story) undone(object *unstructured.Unstructured) (undone, err error) {
	if err := s.read(object); err != nil {
		return nil, err
	}
	if s.role != ControlPlane {
		return fields.IsTrue(object, fields.CompletedPath(string(s.role), s.contract)), nil
	}
	machines, err := s.machines()
	if err == nil && len(machines) == 0 {
		undone = errNoMachine
	}
	return undone, err
}

// ready creates an object, and waits until the provider did its work for it.
func (s *story) ready() (*unstructured.Unstructured, error) {
	return s.actedOn("work")
}

// initialized is like ready, and checks the rule initialization.
func (s *story) initialized() (*unstructured.Unstructured, error) {
	object, err := s.actedOn("after its owner reference was set")
	if object != nil {
		s.check("initialization", err)
	}
	return object, err
}

// actedOn creates the object, and returns it once the provider did its work for it. An error without
// an object is no failure of the provider.
func (s *story) actedOn(what string) (*unstructured.Unstructured, error) {
	object, err := s.prepare()
	if err != nil {
		return nil, err
	}
	if err := s.Create(s.ctx, object); err != nil {
		return nil, err
	}
	return object, s.until(what, func() error { return s.acted(object) })
}

func (s *story) prepareInfraCluster() (*unstructured.Unstructured, error) {
	object, err := s.object(InfraCluster, s.namespace)
	if err != nil {
		return nil, err
	}
	if err := s.createCluster(object); err != nil {
		return nil, err
	}
	setOwner(object, s.cluster, "Cluster")
	return object, nil
}

func (s *story) prepareInfraMachine(name string) (*unstructured.Unstructured, error) {
	if err := s.bringUpCluster(); err != nil {
		return nil, err
	}
	object, err := s.object(InfraMachine, name)
	if err != nil {
		return nil, err
	}
	s.machine = s.newMachine(name, object, nil)
	s.machine.Spec.Bootstrap.DataSecretName = ptr.To(dataSecret)
	if domains := s.cluster.Status.FailureDomains; len(domains) > 0 {
		s.machine.Spec.FailureDomain = domains[len(domains)-1].Name
	}
	if err := errors.Join(s.createBootstrapData(), s.Create(s.ctx, s.machine)); err != nil {
		return nil, err
	}
	setOwner(object, s.machine, "Machine")
	return object, nil
}

func (s *story) prepareInfraMachinePool() (*unstructured.Unstructured, error) {
	if err := s.bringUpCluster(); err != nil {
		return nil, err
	}
	object, err := s.object(InfraMachinePool, poolName)
	if err != nil {
		return nil, err
	}
	template := s.newMachine(poolName, object, nil)
	template.Spec.Bootstrap.DataSecretName = ptr.To(dataSecret)
	s.pool = &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: poolName, Labels: template.Labels, Finalizers: []string{clusterv1.MachinePoolFinalizer},
		},
		Spec: clusterv1.MachinePoolSpec{
			ClusterName: s.namespace, Replicas: ptr.To[int32](poolReplicas), Template: clusterv1.MachineTemplateSpec{Spec: template.Spec},
		},
	}
	if err := errors.Join(s.createBootstrapData(), s.Create(s.ctx, s.pool)); err != nil {
		return nil, err
	}
	setOwner(object, s.pool, "MachinePool")
	return object, nil
}

func (s *story) prepareControlPlane() (*unstructured.Unstructured, error) {
	object, err := s.controlPlaneObject()
	if err != nil {
		return nil, err
	}
	if err := s.bringUpCluster(); err != nil {
		return nil, err
	}
	if err := s.change(s.cluster, func() { s.cluster.Spec.ControlPlaneRef = reference(object) }); err != nil {
		return nil, err
	}
	template := s.standIn(standInMachine + "Template")
	template.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{templateMark: s.namespace}}}
	if err := s.Create(s.ctx, template); err != nil {
		return nil, err
	}
	setOwner(object, s.cluster, "Cluster")
	return object, nil
}

// controlPlaneObject returns a control plane that makes its Machines of stand-in infrastructure.
func (s *story) controlPlaneObject() (*unstructured.Unstructured, error) {
	object, err := s.object(ControlPlane, s.namespace)
	if err != nil {
		return nil, err
	}
	reference := map[string]any{"kind": standInMachine + "Template", "name": s.namespace}
	path := []string{"spec", "machineTemplate", "spec", "infrastructureRef"}
	if s.contract == fields.V1Beta1 {
		path = []string{"spec", "machineTemplate", "infrastructureRef"}
		reference["apiVersion"], reference["namespace"] = infraGroup+"/v1", s.namespace
	} else {
		reference["apiGroup"] = infraGroup
	}
	err = unstructured.SetNestedMap(object.Object, reference, path...)
	return object, err
}

func (s *story) prepareBootstrapConfig() (*unstructured.Unstructured, error) {
	if err := s.bringUpCluster(); err != nil {
		return nil, err
	}
	object, err := s.object(BootstrapConfig, machineName)
	if err != nil {
		return nil, err
	}
	s.machine = s.newMachine(machineName, nil, object)
	// The first control plane machine needs no other one, so no workload cluster.
	s.machine.Labels[clusterv1.MachineControlPlaneLabel] = ""
	if err := s.Create(s.ctx, s.machine); err != nil {
		return nil, err
	}
	setOwner(object, s.machine, "Machine")
	return object, nil
}

// template returns a template of the story's kind.
func (s *story) template(spec any) (*unstructured.Unstructured, error) {
	kind := s.checker.Config.Kinds[s.role]
	version, err := s.checker.Environment.version(schema.GroupKind{Group: kind.Group, Kind: kind.Template}, s.contract)
	if err != nil {
		return nil, err
	}
	template := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}}
	template.SetGroupVersionKind(version)
	template.SetNamespace(s.namespace)
	template.SetName("template")
	return template, nil
}
