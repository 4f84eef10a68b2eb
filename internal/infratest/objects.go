// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infratest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// KubernetesVersion is a version that the fake cloud has an image for.
const KubernetesVersion = "v1.36.3"

// UserData is the bootstrap data of all Secrets.
const UserData = "#cloud-config\nruncmd: []\n"

// NewCluster is a Cluster that refers to a FooCluster of the same name.
func NewCluster(namespace, name string) *clusterv1.Cluster {
	return &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       clusterv1.ClusterSpec{InfrastructureRef: infraRef("FooCluster", name)},
	}
}

// NewFooCluster is a FooCluster after Cluster API has adopted it: owned by the Cluster of the same
// name, which must exist.
func NewFooCluster(cluster *clusterv1.Cluster) *infrav1.FooCluster {
	return &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace,
		Name:      cluster.Name,
		Labels:    map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name, UID: cluster.UID,
		}},
	}}
}

// NewMachine is a Machine of a Cluster that refers to a FooMachine of the same name and has no
// bootstrap data yet.
func NewMachine(cluster *clusterv1.Cluster, name string) *clusterv1.Machine {
	return &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName:       cluster.Name,
			Version:           KubernetesVersion,
			InfrastructureRef: infraRef("FooMachine", name),
			Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig", Name: name,
			}},
		},
	}
}

// NewFooMachine is a FooMachine after Cluster API has adopted it: controlled by the Machine of the
// same name, which must exist.
func NewFooMachine(machine *clusterv1.Machine) *infrav1.FooMachine {
	return &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{
		Namespace: machine.Namespace,
		Name:      machine.Name,
		Labels:    map[string]string{clusterv1.ClusterNameLabel: machine.Spec.ClusterName},
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(machine, clusterv1.GroupVersion.WithKind("Machine")),
		},
	}}
}

// NewMachinePool is a MachinePool of a Cluster that refers to a FooMachinePool and a Secret of the
// same name.
func NewMachinePool(cluster *clusterv1.Cluster, name string, replicas int32) *clusterv1.MachinePool {
	machine := NewMachine(cluster, name).Spec
	machine.InfrastructureRef = infraRef("FooMachinePool", name)
	machine.Bootstrap.DataSecretName = ptr.To(name)
	return &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
		},
		Spec: clusterv1.MachinePoolSpec{
			ClusterName: cluster.Name,
			Replicas:    &replicas,
			Template:    clusterv1.MachineTemplateSpec{Spec: machine},
		},
	}
}

// NewFooMachinePool is a FooMachinePool after Cluster API has adopted it: controlled by the
// MachinePool of the same name.
func NewFooMachinePool(machinePool *clusterv1.MachinePool) *infrav1.FooMachinePool {
	return &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{
		Namespace: machinePool.Namespace,
		Name:      machinePool.Name,
		Labels:    map[string]string{clusterv1.ClusterNameLabel: machinePool.Spec.ClusterName},
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(machinePool, clusterv1.GroupVersion.WithKind("MachinePool")),
		},
	}}
}

// NewSecret is a Secret with bootstrap data.
func NewSecret(namespace, name, userData string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string][]byte{"value": []byte(userData), "format": []byte("cloud-config")},
	}
}

// SetInfrastructureProvisioned does what Cluster API does once the FooCluster is provisioned.
func (s *Suite) SetInfrastructureProvisioned(ctx context.Context, cluster *clusterv1.Cluster) error {
	before := cluster.DeepCopy()
	cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	if err := s.Client.Status().Patch(ctx, cluster, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("set the Cluster's infrastructure as provisioned: %w", err)
	}
	return nil
}

// CreateMachineFor does what Cluster API does for a FooMachine of a pool: it creates a Machine of
// the same name with Cluster API's finalizer, and makes it the controller of the FooMachine.
func (s *Suite) CreateMachineFor(ctx context.Context, cluster *clusterv1.Cluster, fooMachine *infrav1.FooMachine) (*clusterv1.Machine, error) {
	machine := NewMachine(cluster, fooMachine.Name)
	machine.Labels = fooMachine.Labels
	machine.Finalizers = []string{clusterv1.MachineFinalizer}
	machine.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: ptr.To("")}
	if err := s.setMachinePool(ctx, machine); err != nil {
		return nil, err
	}
	if err := s.Client.Create(ctx, machine); err != nil {
		return nil, fmt.Errorf("create a Machine for a FooMachine: %w", err)
	}
	before := fooMachine.DeepCopy()
	if err := controllerutil.SetControllerReference(machine, fooMachine, s.Client.Scheme()); err != nil {
		return nil, fmt.Errorf("make the Machine the controller of the FooMachine: %w", err)
	}
	if err := s.Client.Patch(ctx, fooMachine, client.MergeFrom(before)); err != nil {
		return nil, fmt.Errorf("make the Machine the controller of the FooMachine: %w", err)
	}
	return machine, nil
}

// setMachinePool makes the MachinePool named by the label the controller of a Machine.
func (s *Suite) setMachinePool(ctx context.Context, machine *clusterv1.Machine) error {
	name, ok := machine.Labels[clusterv1.MachinePoolNameLabel]
	if !ok {
		return nil
	}
	machinePool := &clusterv1.MachinePool{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: machine.Namespace, Name: name}, machinePool); err != nil {
		return fmt.Errorf("get the MachinePool of a Machine: %w", err)
	}
	machine.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(machinePool, clusterv1.GroupVersion.WithKind("MachinePool")),
	}
	return nil
}

// SetMachineAvailable does what Cluster API does for a Machine whose Node became ready, or is no
// longer ready.
func (s *Suite) SetMachineAvailable(ctx context.Context, machine *clusterv1.Machine, status metav1.ConditionStatus) error {
	before := machine.DeepCopy()
	machine.Status.NodeRef = clusterv1.MachineNodeReference{Name: machine.Name}
	conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: status, Reason: "Test"})
	if err := s.Client.Status().Patch(ctx, machine, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("set whether Machine %s is available: %w", machine.Name, err)
	}
	return nil
}

func infraRef(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
}
