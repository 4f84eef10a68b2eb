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

// topologies computes what the topology controller would make of Clusters. A class and its templates are read once.
type topologies struct {
	client    client.Client
	patches   patches
	generator desiredstate.Generator
	known     map[client.ObjectKey]*blueprint
}

// blueprint is a ClusterClass with its templates, without the patches that can not be computed here or need not be.
type blueprint struct {
	// ClusterBlueprint is nil if the infrastructure is not Foo's.
	*scope.ClusterBlueprint

	// kind of the infrastructure that the class makes, with its group.
	kind schema.GroupKind
	// external says that there are patches that can not be computed here.
	external bool
	// versions names the state of the class and all templates that were read.
	versions string
}

func newTopologies(c client.Client, patches patches) (*topologies, error) {
	generator, err := desiredstate.NewGenerator(c, unconnected{}, patches, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("preparing Cluster API's computation of topologies: %w", err)
	}
	return &topologies{client: c, patches: patches, generator: generator, known: map[client.ObjectKey]*blueprint{}}, nil
}

// desired returns the objects that the topology of a Cluster asks for, as if nothing was there yet.
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

// blueprint reads the class of a Cluster and, if its infrastructure is Foo's, the templates of that.
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

// infrastructureKind returns the kind of the infrastructure that a class makes.
func infrastructureKind(class *clusterv1.ClusterClass) schema.GroupKind {
	kind := class.Spec.Infrastructure.TemplateRef.GroupVersionKind().GroupKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, clusterv1.TemplateSuffix)
	return kind
}

// ordering are the kinds of the templates that say what the cloud is asked for.
var ordering = map[string]bool{clusterKind + clusterv1.TemplateSuffix: true, templateKind: true, machinePoolKind + clusterv1.TemplateSuffix: true}

// orders reports whether a template says what the cloud is asked for. Those of control planes, of bootstrap providers and of other
// infrastructure do not, and may be of any provider, which nobody here has the right to read.
func orders(kind schema.GroupVersionKind) bool {
	return kind.Group == infrav1.GroupVersion.Group && ordering[kind.Kind]
}

// templates reads the templates of a class until one can not be read. Those that order nothing are taken for empty.
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

// passing reports whether an error may be gone at the next try, and says nothing of the objects that were read.
func passing(ctx context.Context, err error) bool {
	var answered apierrors.APIStatus
	if errors.As(err, &answered) {
		return !apierrors.IsNotFound(err)
	}
	return ctx.Err() != nil
}
