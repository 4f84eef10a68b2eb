// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/exp/topology/scope"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// Kinds of Foo's infrastructure.
const (
	clusterKind     = "FooCluster"
	templateKind    = "FooMachineTemplate"
	machinePoolKind = "FooMachinePool"
)

// demand is what a Cluster asks for.
type demand struct {
	// kind of the infrastructure, including its group.
	kind schema.GroupKind
	// fooCluster is the Cluster's FooCluster, if the infrastructure is Foo's.
	fooCluster *infrav1.FooCluster
	// machines counts the machines of each instance type. The empty type is an unknown one.
	machines map[string]int
	// uncertain means that the instance types may turn out to be different.
	uncertain bool
}

// isFoo reports whether the infrastructure is Foo's. A demand that could not be computed counts as
// Foo's.
func (d demand) isFoo() bool { return d.kind.Empty() || isFoo(d.kind) }

// isFoo reports whether a kind of infrastructure is Foo's.
func isFoo(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Group: infrav1.GroupVersion.Group, Kind: clusterKind}
}

// demandOf computes what a Cluster asks for.
func (t *topologies) demandOf(ctx context.Context, cluster *clusterv1.Cluster, plan *blueprint) (demand, error) {
	if !isFoo(plan.kind) {
		return demand{kind: plan.kind}, nil
	}
	state, err := t.desired(ctx, cluster, plan)
	if err != nil {
		return demand{}, err
	}
	result := demand{kind: plan.kind, machines: map[string]int{}, uncertain: plan.external}
	result.fooCluster = &infrav1.FooCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(state.InfrastructureCluster.Object, result.fooCluster); err != nil {
		return demand{}, fmt.Errorf("the FooCluster of the topology: %w", err)
	}
	return result, result.addMachines(state)
}

func (d *demand) addMachines(state *scope.ClusterState) error {
	controlPlane, err := controlPlaneReplicas(state.ControlPlane.Object)
	if err != nil {
		return err
	}
	if err := d.add(state.ControlPlane.InfrastructureMachineTemplate, controlPlane, "spec", "template", "spec", "instanceType"); err != nil {
		return err
	}
	for _, workers := range state.MachineDeployments {
		replicas := replicas(workers.Object.Spec.Replicas, workers.Object.Annotations)
		if err := d.add(workers.InfrastructureMachineTemplate, replicas, "spec", "template", "spec", "instanceType"); err != nil {
			return err
		}
	}
	for _, workers := range state.MachinePools {
		replicas := replicas(workers.Object.Spec.Replicas, workers.Object.Annotations)
		if err := d.add(workers.InfrastructureMachinePoolObject, replicas, "spec", "template", "instanceType"); err != nil {
			return err
		}
	}
	return nil
}

// add adds machines with the instance type in one of Foo's objects. Other objects do not come from
// the cloud.
func (d *demand) add(object *unstructured.Unstructured, replicas int, path ...string) error {
	if object == nil {
		return nil
	}
	kind := object.GroupVersionKind()
	if kind.Group != infrav1.GroupVersion.Group || (kind.Kind != templateKind && kind.Kind != machinePoolKind) {
		return nil
	}
	instanceType, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		return fmt.Errorf("the instance type of a %s of the topology: %w", kind.Kind, err)
	}
	if instanceType == "" {
		instanceType = infrav1.DefaultInstanceType
	}
	d.machines[instanceType] += replicas
	return nil
}

// controlPlaneReplicas returns the replicas of a control plane. The default is 1.
func controlPlaneReplicas(controlPlane *unstructured.Unstructured) (int, error) {
	count, found, err := unstructured.NestedInt64(controlPlane.Object, "spec", "replicas")
	if err != nil {
		return 0, fmt.Errorf("the replicas of the topology's %s: %w", controlPlane.GetKind(), err)
	}
	if !found {
		return 1, nil
	}
	return int(count), nil
}

// replicas returns how many machines a set of workers starts with. If that is left to an
// autoscaler, Cluster API starts with its minimum.
func replicas(wanted *int32, annotations map[string]string) int {
	if wanted != nil {
		return int(*wanted)
	}
	least, err := strconv.Atoi(annotations[clusterv1.AutoscalerMinSizeAnnotation])
	if err != nil {
		return 1
	}
	return max(least, 1)
}

// unknown returns the demand of a Cluster for which only the number of machines is known.
func unknown(cluster *clusterv1.Cluster) demand {
	topology := cluster.Spec.Topology
	machines := int(ptr.Deref(topology.ControlPlane.Replicas, 1))
	for _, workers := range topology.Workers.MachineDeployments {
		machines += replicas(workers.Replicas, workers.Metadata.Annotations)
	}
	for _, workers := range topology.Workers.MachinePools {
		machines += replicas(workers.Replicas, workers.Metadata.Annotations)
	}
	return demand{machines: map[string]int{"": machines}, uncertain: true}
}
