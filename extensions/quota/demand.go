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
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Kinds of Foo's infrastructure.
const (
	clusterKind         = "FooCluster"
	machineTemplateKind = "FooMachineTemplate"
	poolTemplateKind    = "FooMachinePoolTemplate"
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

// demand sums what the templates of a Cluster's topology ask for.
func (c *classes) demand(ctx context.Context, cluster *clusterv1.Cluster) (demand, error) {
	class, err := c.class(ctx, cluster.GetClassKey())
	if err != nil {
		return demand{}, err
	}
	kind := infrastructureKind(class)
	if !isFoo(kind) {
		return demand{kind: kind}, nil
	}
	result := demand{kind: kind, machines: map[string]int{}, fooCluster: &infrav1.FooCluster{}, uncertain: uncertain(class)}
	for _, use := range uses(class, cluster.Spec.Topology) {
		template, err := c.patched(ctx, class, cluster, use)
		if err != nil {
			return demand{}, err
		}
		if err := result.add(template, use.replicas); err != nil {
			return demand{}, fmt.Errorf("%s %s of the ClusterClass: %w", use.template.Kind, use.template.Name, err)
		}
	}
	// The namespace decides whether it may use its identity.
	result.fooCluster.Namespace, result.fooCluster.Name = cluster.Namespace, cluster.Name
	return result, nil
}

// add adds the objects that are created from a template. Templates of other providers order nothing
// from the cloud.
func (d *demand) add(template *unstructured.Unstructured, replicas int) error {
	spec, _, err := unstructured.NestedMap(template.Object, "spec", "template", "spec")
	if err != nil {
		return err
	}
	path := []string{"instanceType"}
	switch template.GetKind() {
	case clusterKind + clusterv1.TemplateSuffix:
		return runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": spec}, d.fooCluster)
	case poolTemplateKind:
		path = []string{"template", "instanceType"}
	case machineTemplateKind:
	default:
		return nil
	}
	instanceType, _, err := unstructured.NestedString(spec, path...)
	if err != nil {
		return err
	}
	if instanceType == "" {
		instanceType = infrav1.DefaultInstanceType
	}
	d.machines[instanceType] += replicas
	return nil
}

// replicas returns how many machines a set of workers starts with. If that is left to an
// autoscaler, Cluster API starts with its minimum.
func replicas(wanted *int32, metadata ...clusterv1.ObjectMeta) int {
	if wanted != nil {
		return int(*wanted)
	}
	for _, one := range metadata {
		if least, err := strconv.Atoi(one.Annotations[clusterv1.AutoscalerMinSizeAnnotation]); err == nil {
			return max(least, 1)
		}
	}
	return 1
}

// unknown returns the demand of a Cluster for which only the number of machines is known.
func unknown(cluster *clusterv1.Cluster) demand {
	topology := cluster.Spec.Topology
	machines := int(ptr.Deref(topology.ControlPlane.Replicas, 1))
	for _, workers := range topology.Workers.MachineDeployments {
		machines += replicas(workers.Replicas, workers.Metadata)
	}
	for _, workers := range topology.Workers.MachinePools {
		machines += replicas(workers.Replicas, workers.Metadata)
	}
	return demand{machines: map[string]int{"": machines}, uncertain: true}
}

// Versions returns the Kubernetes versions for which the cloud of a Cluster has its default image,
// oldest first. It returns nil for a Cluster on infrastructure other than Foo's.
func (o Options) Versions(ctx context.Context, key client.ObjectKey) ([]string, error) {
	cluster := &clusterv1.Cluster{}
	if err := o.Client.Get(ctx, key, cluster); err != nil {
		return nil, fmt.Errorf("reading the Cluster: %w", err)
	}
	if !isFoo(cluster.Spec.InfrastructureRef.GroupKind()) {
		return nil, nil
	}
	images, err := o.Clouds.OfCluster(ctx, key).Images(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the cloud's images: %w", err)
	}
	versions := make([]string, 0, len(images))
	for _, image := range images {
		if image.Name == "" {
			versions = append(versions, image.KubernetesVersion)
		}
	}
	return versions, nil
}
