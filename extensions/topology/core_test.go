// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/webhooks/admission"
	runtimeclient "sigs.k8s.io/cluster-api/exp/runtime/client"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"
	"sigs.k8s.io/cluster-api/exp/topology/scope"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

const (
	namespace = "default"
	version   = "v1.36.3"
)

func init() {
	if err := feature.MutableGates.Set("ClusterTopology=true,RuntimeSDK=true"); err != nil {
		// Without the gates, every test of a class fails and reports it.
		fmt.Println(err)
	}
}

// class is a ClusterClass of the release with its templates.
type class struct {
	object    *clusterv1.ClusterClass
	templates map[string]*unstructured.Unstructured
	generator desiredstate.Generator
	// calls are the last requests that Cluster API sent for the class, by the name of the handler.
	calls map[string][]byte
}

// loadClass builds a class from its kustomization, and discovers its variables as Cluster API does.
func loadClass(ctx context.Context, name string, settings map[string]string) (*class, error) {
	all, err := flavors.Build()
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(all.Classes, func(template flavors.Template) bool { return template.Name == name })
	if index < 0 {
		return nil, fmt.Errorf("there is no ClusterClass %s", name)
	}
	objects, err := all.Classes[index].Render(ctx, namespace, nil)
	if err != nil {
		return nil, err
	}
	loaded := &class{templates: map[string]*unstructured.Unstructured{}, object: &clusterv1.ClusterClass{}}
	for i := range objects {
		if objects[i].GetKind() == "ClusterClass" {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, loaded.object)
		}
		if err != nil {
			return nil, err
		}
		loaded.templates[objects[i].GetKind()+"/"+objects[i].GetName()] = &objects[i]
	}
	calls := extension{settings: settings, calls: map[string][]byte{}}
	loaded.calls = calls.calls
	if err := loaded.discover(ctx, calls); err != nil {
		return nil, err
	}
	loaded.generator, err = newGenerator(ctx, calls)
	return loaded, err
}

// discover fills in the status of the class as the controller of ClusterClasses does.
func (c *class) discover(ctx context.Context, calls extension) error {
	add := func(from string, variables []clusterv1.ClusterClassVariable) {
		for _, variable := range variables {
			c.object.Status.Variables = append(c.object.Status.Variables, clusterv1.ClusterClassStatusVariable{
				Name: variable.Name, DefinitionsConflict: ptr.To(false),
				Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{From: from, Required: variable.Required, Schema: variable.Schema}},
			})
		}
	}
	add(clusterv1.VariableDefinitionFromInline, c.object.Spec.Variables)
	for _, patch := range c.object.Spec.Patches {
		if patch.External == nil {
			continue
		}
		var response runtimehooksv1.DiscoverVariablesResponse
		name := patch.External.DiscoverVariablesExtension
		if err := calls.CallExtension(ctx, runtimehooksv1.DiscoverVariables, c.object, name, &runtimehooksv1.DiscoverVariablesRequest{}, &response); err != nil {
			return err
		}
		add(patch.Name, response.Variables)
	}
	return nil
}

// newGenerator returns the generator that computes a topology in Cluster API.
func newGenerator(ctx context.Context, calls runtimeclient.Client) (desiredstate.Generator, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(apiextensionsv1.AddToScheme(scheme), clusterv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "foocontrolplanes.controlplane.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2", "cluster.x-k8s.io/v1beta1": "v1beta1"},
	}}
	return desiredstate.NewGenerator(fake.NewClientBuilder().WithScheme(scheme).WithObjects(crd).Build(), clustercache.NewFakeEmptyClusterCache(), calls,
		cache.New[cache.HookEntry](ctx, cache.DefaultTTL), cache.New[desiredstate.GenerateUpgradePlanCacheEntry](ctx, cache.DefaultTTL))
}

// compute returns what Cluster API would create for a Cluster of the class. First, the code of
// Cluster API's webhook sets the defaults of the variables.
func (c *class) compute(ctx context.Context, topology clusterv1.Topology) (*scope.ClusterState, error) {
	topology.ClassRef.Name, topology.Version = c.object.Name, version
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo", UID: "0d1c2b3a"},
		Spec: clusterv1.ClusterSpec{Topology: *topology.DeepCopy(), ClusterNetwork: clusterv1.ClusterNetwork{
			Pods: clusterv1.NetworkRanges{CIDRBlocks: []string{"10.244.0.0/16"}}, Services: clusterv1.NetworkRanges{CIDRBlocks: []string{"10.128.0.0/12"}},
		}},
	}
	if errs := admission.DefaultVariables(cluster, c.object); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	computed := scope.New(cluster)
	computed.Current.ControlPlane = &scope.ControlPlaneState{}
	computed.Blueprint = c.blueprint(cluster.Spec.Topology)
	return c.generator.Generate(ctx, computed)
}

func (c *class) blueprint(topology clusterv1.Topology) *scope.ClusterBlueprint {
	find := func(reference clusterv1.ClusterClassTemplateReference) *unstructured.Unstructured {
		return c.templates[reference.Kind+"/"+reference.Name].DeepCopy()
	}
	spec := c.object.Spec
	made := &scope.ClusterBlueprint{
		Topology: topology, ClusterClass: c.object, InfrastructureClusterTemplate: find(spec.Infrastructure.TemplateRef),
		ControlPlane: &scope.ControlPlaneBlueprint{
			Template: find(spec.ControlPlane.TemplateRef), InfrastructureMachineTemplate: find(spec.ControlPlane.MachineInfrastructure.TemplateRef),
		},
		MachineDeployments: map[string]*scope.MachineDeploymentBlueprint{}, MachinePools: map[string]*scope.MachinePoolBlueprint{},
	}
	for _, workers := range spec.Workers.MachineDeployments {
		made.MachineDeployments[workers.Class] = &scope.MachineDeploymentBlueprint{
			BootstrapTemplate: find(workers.Bootstrap.TemplateRef), InfrastructureMachineTemplate: find(workers.Infrastructure.TemplateRef),
		}
	}
	for _, workers := range spec.Workers.MachinePools {
		made.MachinePools[workers.Class] = &scope.MachinePoolBlueprint{
			BootstrapTemplate: find(workers.Bootstrap.TemplateRef), InfrastructureMachinePoolTemplate: find(workers.Infrastructure.TemplateRef),
		}
	}
	return made
}

// extension calls the handlers as Cluster API's client does: by name, with requests and responses as JSON.
type extension struct {
	runtimeclient.Client
	// settings are the settings of the ExtensionConfig.
	settings map[string]string
	// calls are the requests that were sent, by the name of the handler.
	calls map[string][]byte
}

// CallExtension returns an error for every answer that is not a success.
func (e extension) CallExtension(ctx context.Context, _ runtimecatalog.Hook, _ client.Object, name string,
	request runtimehooksv1.RequestObject, response runtimehooksv1.ResponseObject, _ ...runtimeclient.CallExtensionOption) error {
	request = request.DeepCopyObject().(runtimehooksv1.RequestObject)
	request.SetSettings(e.settings)
	sent, err := json.Marshal(request)
	if err != nil {
		return err
	}
	e.calls[name] = sent
	switch name {
	case "generate-patches.foo":
		err = overTheWire(ctx, request, response, topology.GeneratePatches)
	case "validate-topology.foo":
		err = overTheWire(ctx, request, response, topology.ValidateTopology)
	case "discover-variables.foo":
		err = overTheWire(ctx, request, response, topology.DiscoverVariables)
	default:
		err = fmt.Errorf("there is no handler %s", name)
	}
	if err == nil && response.GetStatus() != runtimehooksv1.ResponseStatusSuccess {
		err = errors.New(response.GetMessage())
	}
	return err
}

// overTheWire passes a request to a handler as JSON, and passes its response back as JSON.
func overTheWire[I, O any](ctx context.Context, request, response any, handle func(context.Context, *I, *O)) error {
	sent, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var input I
	if err := json.Unmarshal(sent, &input); err != nil {
		return err
	}
	var output O
	handle(ctx, &input, &output)
	answered, err := json.Marshal(output)
	if err != nil {
		return err
	}
	return json.Unmarshal(answered, response)
}

// specs returns the specs of all parts of a topology, without the object names that Cluster API
// generates.
func specs(state *scope.ClusterState) map[string]any {
	found := map[string]any{
		"cluster": state.InfrastructureCluster.Object["spec"], "machines": state.ControlPlane.InfrastructureMachineTemplate.Object["spec"],
	}
	controlPlane := state.ControlPlane.Object.DeepCopy()
	unstructured.RemoveNestedField(controlPlane.Object, "spec", "machineTemplate", "spec", "infrastructureRef", "name")
	found["control plane"] = controlPlane.Object["spec"]
	for name, deployment := range state.MachineDeployments {
		found["deployment "+name] = []any{deployment.InfrastructureMachineTemplate.Object["spec"], deployment.BootstrapTemplate.Object["spec"]}
	}
	for name, pool := range state.MachinePools {
		found["pool "+name] = []any{pool.InfrastructureMachinePoolObject.Object["spec"], pool.BootstrapObject.Object["spec"]}
	}
	return found
}

// variable returns a variable of a Cluster.
func variable(name, value string) clusterv1.ClusterVariable {
	return clusterv1.ClusterVariable{Name: name, Value: apiextensionsv1.JSON{Raw: []byte(value)}}
}

// small is a topology with one Machine of each kind.
func small(variables ...clusterv1.ClusterVariable) clusterv1.Topology {
	return clusterv1.Topology{
		Variables:    variables,
		ControlPlane: clusterv1.ControlPlaneTopology{Replicas: ptr.To[int32](1)},
		Workers: clusterv1.WorkersTopology{
			MachineDeployments: []clusterv1.MachineDeploymentTopology{{Class: "default-worker", Name: "deployment", Replicas: ptr.To[int32](1)}},
			MachinePools:       []clusterv1.MachinePoolTopology{{Class: "default-worker", Name: "pool", Replicas: ptr.To[int32](1)}},
		},
	}
}

// lines splits a message to make it easier to compare.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	_, message, _ := strings.Cut(err.Error(), "failed: ")
	return strings.Split(message, "; ")
}
