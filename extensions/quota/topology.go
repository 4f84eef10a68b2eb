// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"
	"sigs.k8s.io/cluster-api/exp/topology/scope"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// topologies computes what the topology controller would create for Clusters. It reads a class and
// its templates only once.
type topologies struct {
	client    client.Client
	patches   patches
	generator desiredstate.Generator
	known     map[client.ObjectKey]*blueprint
}

// blueprint is a ClusterClass with its templates, without the patches that cannot or need not be
// computed here.
type blueprint struct {
	// ClusterBlueprint is nil if the infrastructure is not Foo's.
	*scope.ClusterBlueprint

	// kind of the infrastructure that the class creates, including its group.
	kind schema.GroupKind
	// external means that there are patches that cannot be computed here.
	external bool
	// versions identifies the state of the class and of all templates that were read.
	versions string
}

func newTopologies(c client.Client, patches patches) (*topologies, error) {
	generator, err := desiredstate.NewGenerator(c, unconnected{}, patches, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("preparing Cluster API's computation of topologies: %w", err)
	}
	return &topologies{client: c, patches: patches, generator: generator, known: map[client.ObjectKey]*blueprint{}}, nil
}

// desired returns the objects that the topology of a Cluster asks for, as if none of them existed
// yet.
func (t *topologies) desired(ctx context.Context, cluster *clusterv1.Cluster, plan *blueprint) (*scope.ClusterState, error) {
	cluster = cluster.DeepCopy()
	cluster.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
	computed := scope.New(cluster)
	copied := *plan.ClusterBlueprint
	copied.Topology = cluster.Spec.Topology
	computed.Blueprint = &copied
	computed.Current.ControlPlane = &scope.ControlPlaneState{}
	state, err := t.generator.Generate(ctx, computed)
	if err != nil {
		return nil, fmt.Errorf("computing the topology: %w", err)
	}
	return state, nil
}

// blueprint reads the class of a Cluster and, if its infrastructure is Foo's, the infrastructure
// templates.
func (t *topologies) blueprint(ctx context.Context, cluster *clusterv1.Cluster) (*blueprint, error) {
	key := cluster.GetClassKey()
	if known, ok := t.known[key]; ok {
		return known, nil
	}
	class := &clusterv1.ClusterClass{}
	if err := t.client.Get(ctx, key, class); err != nil {
		return nil, fmt.Errorf("reading the ClusterClass: %w", err)
	}
	made := &blueprint{kind: infrastructureKind(class), versions: string(class.UID) + "/" + class.ResourceVersion}
	if isFoo(made.kind) {
		made.external = t.patches.computable(class)
		read := &templates{client: t.client, namespace: class.Namespace, blueprint: made}
		made.ClusterBlueprint = read.all(ctx, class)
		if read.err != nil {
			return nil, read.err
		}
	}
	t.known[key] = made
	return made, nil
}

// infrastructureKind returns the kind of infrastructure that a class creates.
func infrastructureKind(class *clusterv1.ClusterClass) schema.GroupKind {
	kind := class.Spec.Infrastructure.TemplateRef.GroupVersionKind().GroupKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, clusterv1.TemplateSuffix)
	return kind
}

// ordering are the kinds of templates that determine what is ordered from the cloud.
var ordering = map[string]bool{clusterKind + clusterv1.TemplateSuffix: true, templateKind: true, machinePoolKind + clusterv1.TemplateSuffix: true}

// orders reports whether a template determines what is ordered from the cloud. Templates of control
// planes, bootstrap providers and other infrastructure do not. They may belong to any provider, and
// this process has no permission to read them.
func orders(kind schema.GroupVersionKind) bool {
	return kind.Group == infrav1.GroupVersion.Group && ordering[kind.Kind]
}

// templates reads the templates of a class until one cannot be read. Templates that order nothing
// count as empty.
type templates struct {
	client    client.Client
	namespace string
	blueprint *blueprint
	err       error
}

func (t *templates) all(ctx context.Context, class *clusterv1.ClusterClass) *scope.ClusterBlueprint {
	spec := class.Spec
	result := &scope.ClusterBlueprint{
		ClusterClass:                  class,
		InfrastructureClusterTemplate: t.get(ctx, spec.Infrastructure.TemplateRef),
		ControlPlane:                  &scope.ControlPlaneBlueprint{Template: t.get(ctx, spec.ControlPlane.TemplateRef)},
		MachineDeployments:            map[string]*scope.MachineDeploymentBlueprint{},
		MachinePools:                  map[string]*scope.MachinePoolBlueprint{},
	}
	if result.HasControlPlaneInfrastructureMachine() {
		result.ControlPlane.InfrastructureMachineTemplate = t.get(ctx, spec.ControlPlane.MachineInfrastructure.TemplateRef)
	}
	for _, workers := range spec.Workers.MachineDeployments {
		result.MachineDeployments[workers.Class] = &scope.MachineDeploymentBlueprint{
			Metadata:                      workers.Metadata,
			BootstrapTemplate:             t.get(ctx, workers.Bootstrap.TemplateRef),
			InfrastructureMachineTemplate: t.get(ctx, workers.Infrastructure.TemplateRef),
		}
	}
	for _, workers := range spec.Workers.MachinePools {
		result.MachinePools[workers.Class] = &scope.MachinePoolBlueprint{
			Metadata:                          workers.Metadata,
			BootstrapTemplate:                 t.get(ctx, workers.Bootstrap.TemplateRef),
			InfrastructureMachinePoolTemplate: t.get(ctx, workers.Infrastructure.TemplateRef),
		}
	}
	return result
}

func (t *templates) get(ctx context.Context, reference clusterv1.ClusterClassTemplateReference) *unstructured.Unstructured {
	template := &unstructured.Unstructured{}
	if t.err != nil {
		return template
	}
	template.SetAPIVersion(reference.APIVersion)
	template.SetKind(reference.Kind)
	if !orders(template.GroupVersionKind()) {
		template.SetName(reference.Name)
		template.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{}}}
		return template
	}
	if err := t.client.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: reference.Name}, template); err != nil {
		t.err = fmt.Errorf("reading %s %s of the ClusterClass: %w", reference.Kind, reference.Name, err)
	}
	t.blueprint.versions += " " + string(template.GetUID()) + "/" + template.GetResourceVersion()
	return template
}

// passing reports whether an error may be gone on the next try. Such an error says nothing about
// the objects that were read.
func passing(ctx context.Context, err error) bool {
	var answered apierrors.APIStatus
	if errors.As(err, &answered) {
		return !apierrors.IsNotFound(err)
	}
	return ctx.Err() != nil
}
