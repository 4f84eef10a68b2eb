// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
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

// template is a template of a request, with the variables that apply to it.
type template struct {
	values

	kind    schema.GroupKind
	version string
	user    user
	object  *unstructured.Unstructured
}

// newTemplate returns a template, and what is wrong with its variables.
func newTemplate(holder runtimehooksv1.HolderReference, object *unstructured.Unstructured, variables map[string]apiextensionsv1.JSON) (template, findings) {
	read, wrong := readValues(variables)
	kind := object.GroupVersionKind()
	made := template{values: read, kind: kind.GroupKind(), version: kind.Version, user: userOf(holder), object: object}
	return made, wrong.at(made.where())
}

// decode returns the object in a request. It is nil if it is no object with an apiVersion and a
// kind.
func decode(raw []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil { // it needs a kind
		return nil
	}
	version, err := schema.ParseGroupVersion(object.GetAPIVersion())
	if err != nil || version.Version == "" {
		return nil
	}
	return object
}

// undecodable is the finding for a template that is no object.
func undecodable(holder runtimehooksv1.HolderReference, values values) findings {
	one := template{values: values, user: userOf(holder)}
	return findings{fmt.Sprintf("the template of %s is not an object with an apiVersion and a kind", holder.FieldPath)}.at(one.where())
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

// workers returns the class and the name in the topology of the workers that use the template.
func (t *template) workers() (class, name string) {
	switch {
	case t.user == deployment && t.Builtin.MachineDeployment != nil:
		return t.Builtin.MachineDeployment.Class, t.Builtin.MachineDeployment.TopologyName
	case t.user == pool && t.Builtin.MachinePool != nil:
		return t.Builtin.MachinePool.Class, t.Builtin.MachinePool.TopologyName
	default:
		return "", ""
	}
}

// where returns the location of the user in a Cluster. It does not name objects, because Cluster
// API may give them random names.
func (t *template) where() string {
	_, name := t.workers()
	switch t.user {
	case controlPlane:
		return "spec.topology.controlPlane"
	case deployment:
		return "spec.topology.workers.machineDeployments[" + name + "]"
	case pool:
		return "spec.topology.workers.machinePools[" + name + "]"
	default:
		return "spec.topology"
	}
}

// covered reports whether the variables are for the template: not for one of other workers, nor for
// one of a version that is not known.
func (t *template) covered() bool {
	class, _ := t.workers()
	isWorker := t.user == deployment || t.user == pool
	return (t.version == v1beta1 || t.version == v1beta2) && (!isWorker || class == workerClass)
}
