// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// workerClass is the class of workers that the variables are for, as named in the ClusterClass foo.
const workerClass = "default-worker"

// Versions of the templates.
const (
	v1beta1 = "v1beta1"
	v1beta2 = "v1beta2"
)

// Kinds of the templates.
var (
	controlPlaneKind = controlplanev1.GroupVersion.WithKind("FooControlPlaneTemplate").GroupKind()
	clusterKind      = infrav1.GroupVersion.WithKind("FooClusterTemplate").GroupKind()
	machineKind      = infrav1.GroupVersion.WithKind("FooMachineTemplate").GroupKind()
	poolKind         = infrav1.GroupVersion.WithKind("FooMachinePoolTemplate").GroupKind()
	bootstrapKind    = bootstrapv1.GroupVersion.WithKind("KubeadmConfigTemplate").GroupKind()
)

// user is the part of a cluster that uses a template.
type user int

const (
	// nobody is any user that this class does not cover.
	nobody user = iota
	cluster
	controlPlane
	deployment
	pool
)

// common is what all templates of a request share.
type common struct {
	values   values
	builtins runtimehooksv1.Builtins
}

// template is a template in a request.
type template struct {
	kind    schema.GroupKind
	version string
	user    user
	// raw is the template as JSON, and object is what was decoded from it.
	raw    []byte
	object map[string]any
	values values
	// builtins are the builtin variables of Cluster API for the user.
	builtins runtimehooksv1.Builtins
}

// readCommon reads the variables that apply to all templates.
func readCommon(variables []runtimehooksv1.Variable) (common, findings) {
	var read common
	wrong := read.values.read(variables, &read.builtins)
	return read, wrong.at("spec.topology.variables")
}

// read reads a template. Its own variables override the common ones.
func (c *common) read(holder runtimehooksv1.HolderReference, raw []byte, variables []runtimehooksv1.Variable) (template, findings) {
	read := template{raw: raw, values: c.values, user: userOf(holder)}
	wrong := read.values.read(variables, &read.builtins)
	err := json.Unmarshal(raw, &read.object)
	kind, _ := read.object["kind"].(string)
	apiVersion, _ := read.object["apiVersion"].(string)
	group, parseErr := schema.ParseGroupVersion(apiVersion)
	if err != nil || parseErr != nil || kind == "" || group.Version == "" {
		wrong = append(wrong, fmt.Sprintf("the template of %s is not an object with an apiVersion and a kind", holder.FieldPath))
	}
	read.kind, read.version = group.WithKind(kind).GroupKind(), group.Version
	return read, wrong.at(read.where())
}

// userOf tells the users apart as Cluster API does: only a control plane refers to machine
// templates in its own spec.
func userOf(holder runtimehooksv1.HolderReference) user {
	switch {
	case holder.FieldPath == "spec.machineTemplate.spec.infrastructureRef", holder.FieldPath == "spec.machineTemplate.infrastructureRef":
		return controlPlane
	case holder.Kind == "Cluster" && holder.FieldPath == "spec.controlPlaneRef":
		return controlPlane
	case holder.Kind == "Cluster":
		return cluster
	case holder.Kind == "MachineDeployment":
		return deployment
	case holder.Kind == "MachinePool":
		return pool
	default:
		return nobody
	}
}

// text returns the text at a path of the template. It is empty if there is none.
func (t *template) text(path ...string) string {
	text, _, _ := unstructured.NestedString(t.object, path...)
	return text
}

// where returns the location of the user in a Cluster. It does not name objects, because Cluster
// API may give them random names.
func (t *template) where() string {
	const workers = "spec.topology.workers."
	switch t.user {
	case controlPlane:
		return "spec.topology.controlPlane"
	case deployment:
		name := ""
		if t.builtins.MachineDeployment != nil {
			name = t.builtins.MachineDeployment.TopologyName
		}
		return workers + "machineDeployments[" + name + "]"
	case pool:
		name := ""
		if t.builtins.MachinePool != nil {
			name = t.builtins.MachinePool.TopologyName
		}
		return workers + "machinePools[" + name + "]"
	default:
		return "spec.topology"
	}
}

// ofOtherWorkers reports whether the template is used by workers of a class that the variables are
// not for.
func (t *template) ofOtherWorkers() bool {
	switch t.user {
	case deployment:
		return t.builtins.MachineDeployment == nil || t.builtins.MachineDeployment.Class != workerClass
	case pool:
		return t.builtins.MachinePool == nil || t.builtins.MachinePool.Class != workerClass
	default:
		return false
	}
}
