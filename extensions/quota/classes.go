// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster/patches/inline"
	"sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster/patches/variables"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
)

// ownPatches is what ClusterClasses call the external patches that this process computes itself.
const ownPatches = "generate-patches.foo"

// classes reads ClusterClasses and their templates, each only once.
type classes struct {
	client    client.Reader
	known     map[client.ObjectKey]*clusterv1.ClusterClass
	templates map[string]*unstructured.Unstructured
}

func newClasses(reader client.Reader) *classes {
	return &classes{client: reader, known: map[client.ObjectKey]*clusterv1.ClusterClass{}, templates: map[string]*unstructured.Unstructured{}}
}

func (c *classes) class(ctx context.Context, key client.ObjectKey) (*clusterv1.ClusterClass, error) {
	if known, ok := c.known[key]; ok {
		return known, nil
	}
	class := &clusterv1.ClusterClass{}
	if err := c.client.Get(ctx, key, class); err != nil {
		return nil, fmt.Errorf("reading the ClusterClass: %w", err)
	}
	c.known[key] = class
	return class, nil
}

// template returns a copy of a template of a class.
func (c *classes) template(ctx context.Context, namespace string, reference clusterv1.ClusterClassTemplateReference) (*unstructured.Unstructured, error) {
	key := strings.Join([]string{reference.APIVersion, reference.Kind, namespace, reference.Name}, "/")
	if known, ok := c.templates[key]; ok {
		return known.DeepCopy(), nil
	}
	template := &unstructured.Unstructured{}
	template.SetAPIVersion(reference.APIVersion)
	template.SetKind(reference.Kind)
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: reference.Name}, template); err != nil {
		return nil, fmt.Errorf("reading %s %s of the ClusterClass: %w", reference.Kind, reference.Name, err)
	}
	c.templates[key] = template
	return template.DeepCopy(), nil
}

// infrastructureKind returns the kind of infrastructure that a class creates.
func infrastructureKind(class *clusterv1.ClusterClass) schema.GroupKind {
	kind := class.Spec.Infrastructure.TemplateRef.GroupVersionKind().GroupKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, clusterv1.TemplateSuffix)
	return kind
}

// uncertain reports whether a class has patches that cannot be computed here.
func uncertain(class *clusterv1.ClusterClass) bool {
	return slices.ContainsFunc(class.Spec.Patches, func(patch clusterv1.ClusterClassPatch) bool {
		// A patch that only validates changes nothing.
		return patch.External != nil && patch.External.GeneratePatchesExtension != "" && patch.External.GeneratePatchesExtension != ownPatches
	})
}

// use is a template in a topology, and how many objects are created from it.
type use struct {
	template clusterv1.ClusterClassTemplateReference
	holder   runtimehooksv1.HolderReference
	replicas int
	// variables returns the template's own variables, given the names that count for a patch.
	variables func(names map[string]bool) ([]runtimehooksv1.Variable, error)
}

// uses returns the templates of Foo's infrastructure that a topology uses. Templates of control
// planes, bootstrap providers and other infrastructure order nothing from the cloud. They may
// belong to any provider, and this process has no permission to read them.
func uses(class *clusterv1.ClusterClass, topology clusterv1.Topology) []use {
	list := []use{{
		template: class.Spec.Infrastructure.TemplateRef, replicas: 1,
		holder:    runtimehooksv1.HolderReference{APIVersion: clusterv1.GroupVersion.String(), Kind: clusterv1.ClusterKind, FieldPath: "spec.infrastructureRef"},
		variables: func(map[string]bool) ([]runtimehooksv1.Variable, error) { return nil, nil },
	}}
	if ordered(class.Spec.ControlPlane.MachineInfrastructure.TemplateRef) {
		list = append(list, controlPlaneUse(class, topology))
	}
	for _, workers := range topology.Workers.MachineDeployments {
		for _, one := range class.Spec.Workers.MachineDeployments {
			if one.Class == workers.Class && ordered(one.Infrastructure.TemplateRef) {
				list = append(list, deploymentUse(one, workers, topology.Version))
			}
		}
	}
	for _, workers := range topology.Workers.MachinePools {
		for _, one := range class.Spec.Workers.MachinePools {
			if one.Class == workers.Class && ordered(one.Infrastructure.TemplateRef) {
				list = append(list, poolUse(one, workers, topology.Version))
			}
		}
	}
	return list
}

// ordered reports whether machines of a template come from the cloud.
func ordered(reference clusterv1.ClusterClassTemplateReference) bool {
	kind := reference.GroupVersionKind()
	return kind.Group == infrav1.GroupVersion.Group && (kind.Kind == machineTemplateKind || kind.Kind == poolTemplateKind)
}

func controlPlaneUse(class *clusterv1.ClusterClass, topology clusterv1.Topology) use {
	count := int64(ptr.Deref(topology.ControlPlane.Replicas, 1))
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": count, "version": topology.Version}}}
	return use{
		template: class.Spec.ControlPlane.MachineInfrastructure.TemplateRef, replicas: int(count),
		holder: runtimehooksv1.HolderReference{FieldPath: "spec.machineTemplate.spec.infrastructureRef"},
		variables: func(names map[string]bool) ([]runtimehooksv1.Variable, error) {
			return variables.ControlPlane(&topology.ControlPlane, object, nil, names)
		},
	}
}

// workersPath is where MachineDeployments and MachinePools refer to their infrastructure.
const workersPath = "spec.template.spec.infrastructureRef"

func deploymentUse(class clusterv1.MachineDeploymentClass, workers clusterv1.MachineDeploymentTopology, version string) use {
	count := replicas(workers.Replicas, workers.Metadata, class.Metadata)
	object := &clusterv1.MachineDeployment{Spec: clusterv1.MachineDeploymentSpec{Replicas: ptr.To(int32(count))}}
	object.Spec.Template.Spec.Version = version
	return workersUse("MachineDeployment", class.Infrastructure.TemplateRef, count, func(names map[string]bool) ([]runtimehooksv1.Variable, error) {
		return variables.MachineDeployment(&workers, object, nil, nil, names)
	})
}

func poolUse(class clusterv1.MachinePoolClass, workers clusterv1.MachinePoolTopology, version string) use {
	count := replicas(workers.Replicas, workers.Metadata, class.Metadata)
	object := &clusterv1.MachinePool{Spec: clusterv1.MachinePoolSpec{Replicas: ptr.To(int32(count))}}
	object.Spec.Template.Spec.Version = version
	return workersUse("MachinePool", class.Infrastructure.TemplateRef, count, func(names map[string]bool) ([]runtimehooksv1.Variable, error) {
		return variables.MachinePool(&workers, object, nil, nil, names)
	})
}

func workersUse(kind string, template clusterv1.ClusterClassTemplateReference, replicas int, variables func(map[string]bool) ([]runtimehooksv1.Variable, error)) use {
	return use{
		template: template, replicas: replicas, variables: variables,
		holder: runtimehooksv1.HolderReference{APIVersion: clusterv1.GroupVersion.String(), Kind: kind, FieldPath: workersPath},
	}
}

// patched returns a template with the patches of its class applied in their order.
func (c *classes) patched(ctx context.Context, class *clusterv1.ClusterClass, cluster *clusterv1.Cluster, use use) (*unstructured.Unstructured, error) {
	template, err := c.template(ctx, class.Namespace, use.template)
	if err != nil {
		return nil, err
	}
	for i := range class.Spec.Patches {
		patch := &class.Spec.Patches[i]
		request, err := use.request(cluster, variableNames(class, patch), template)
		if err == nil {
			err = apply(ctx, cluster, patch, request, template)
		}
		if err != nil {
			return nil, fmt.Errorf("patch %s of the ClusterClass for %s %s: %w", patch.Name, use.template.Kind, use.template.Name, err)
		}
	}
	return template, nil
}

// request returns the request to patch a template with the variables of these names.
func (u use) request(cluster *clusterv1.Cluster, names map[string]bool, template *unstructured.Unstructured) (*runtimehooksv1.GeneratePatchesRequest, error) {
	common, err := variables.Global(cluster.Spec.Topology, cluster, names)
	if err != nil {
		return nil, err
	}
	own, err := u.variables(names)
	if err != nil {
		return nil, err
	}
	raw, err := template.MarshalJSON()
	if err != nil {
		return nil, err
	}
	request := &runtimehooksv1.GeneratePatchesRequest{Variables: common, Items: []runtimehooksv1.GeneratePatchesRequestItem{{
		UID: "template", HolderReference: u.holder, Variables: own,
	}}}
	request.Items[0].Object.Raw, request.Items[0].Object.Object = raw, template
	return request, nil
}

// apply applies one patch of a class to a template.
func apply(ctx context.Context, cluster *clusterv1.Cluster, patch *clusterv1.ClusterClassPatch,
	request *runtimehooksv1.GeneratePatchesRequest, template *unstructured.Unstructured) error {
	response, err := generate(ctx, cluster, patch, request)
	if err != nil {
		return err
	}
	raw := request.Items[0].Object.Raw
	for _, item := range response.Items {
		if raw, err = patchedJSON(raw, item); err != nil {
			return err
		}
	}
	return template.UnmarshalJSON(raw)
}

// variableNames returns the variables that count for a patch.
func variableNames(class *clusterv1.ClusterClass, patch *clusterv1.ClusterClassPatch) map[string]bool {
	from := patch.Name
	if patch.External == nil {
		from = clusterv1.VariableDefinitionFromInline
	}
	names := map[string]bool{}
	for _, variable := range class.Status.Variables {
		for _, definition := range variable.Definitions {
			if definition.From == from {
				names[variable.Name] = true
			}
		}
	}
	return names
}

// generate computes a patch. What cannot be computed here changes nothing.
func generate(ctx context.Context, cluster *clusterv1.Cluster, patch *clusterv1.ClusterClassPatch, request *runtimehooksv1.GeneratePatchesRequest) (*runtimehooksv1.GeneratePatchesResponse, error) {
	if patch.External == nil {
		return inline.NewGenerator(patch).Generate(ctx, cluster, request)
	}
	response := &runtimehooksv1.GeneratePatchesResponse{}
	if patch.External.GeneratePatchesExtension == ownPatches {
		topology.GeneratePatches(ctx, request, response)
		if response.Status != runtimehooksv1.ResponseStatusSuccess {
			return nil, errors.New(response.Message)
		}
	}
	return response, nil
}

func patchedJSON(raw []byte, item runtimehooksv1.GeneratePatchesResponseItem) ([]byte, error) {
	if item.PatchType == runtimehooksv1.JSONMergePatchType {
		return jsonpatch.MergePatch(raw, item.Patch)
	}
	patch, err := jsonpatch.DecodePatch(item.Patch)
	if err != nil {
		return nil, err
	}
	return patch.Apply(raw)
}

// passing reports whether an error may be gone on the next try. Such an error says nothing about
// the objects that were read.
func passing(ctx context.Context, err error) bool {
	var answered apierrors.APIStatus
	if errors.As(err, &answered) {
		return !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err)
	}
	return ctx.Err() != nil
}
