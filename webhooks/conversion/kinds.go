// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apimachineryconversion "k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion/infrastructure"
)

// Pass these, and FooControlPlane, to WithConverter of a webhook builder.
var (
	FooCluster              = fooCluster.converter()
	FooClusterTemplate      = fooClusterTemplate.converter()
	FooMachine              = fooMachine.converter()
	FooMachineTemplate      = fooMachineTemplate.converter()
	FooMachinePool          = fooMachinePool.converter()
	FooMachinePoolTemplate  = fooMachinePoolTemplate.converter()
	FooControlPlaneTemplate = fooControlPlaneTemplate.converter()
)

// FooControlPlane returns the converter of FooControlPlanes. The mapper provides the version for
// references to infrastructure machine templates.
func FooControlPlane(mapper meta.RESTMapper) func(*runtime.Scheme) (conversion.Converter, error) {
	return fooControlPlane(mapper).converter()
}

var (
	fooCluster = newKind(infrastructure.Convert_v1beta2_FooCluster_To_v1beta1_FooCluster,
		infrastructure.Convert_v1beta1_FooCluster_To_v1beta2_FooCluster)
	fooClusterTemplate = newKind(infrastructure.Convert_v1beta2_FooClusterTemplate_To_v1beta1_FooClusterTemplate,
		infrastructure.Convert_v1beta1_FooClusterTemplate_To_v1beta2_FooClusterTemplate)
	fooMachine = newKind(infrastructure.Convert_v1beta2_FooMachine_To_v1beta1_FooMachine,
		infrastructure.Convert_v1beta1_FooMachine_To_v1beta2_FooMachine)
	fooMachineTemplate = newKind(infrastructure.Convert_v1beta2_FooMachineTemplate_To_v1beta1_FooMachineTemplate,
		infrastructure.Convert_v1beta1_FooMachineTemplate_To_v1beta2_FooMachineTemplate)
	fooMachinePool = newKind(infrastructure.Convert_v1beta2_FooMachinePool_To_v1beta1_FooMachinePool,
		infrastructure.Convert_v1beta1_FooMachinePool_To_v1beta2_FooMachinePool)
	fooMachinePoolTemplate = newKind(infrastructure.Convert_v1beta2_FooMachinePoolTemplate_To_v1beta1_FooMachinePoolTemplate,
		infrastructure.Convert_v1beta1_FooMachinePoolTemplate_To_v1beta2_FooMachinePoolTemplate)
	fooControlPlaneTemplate = newKind(controlplane.Convert_v1beta2_FooControlPlaneTemplate_To_v1beta1_FooControlPlaneTemplate,
		controlplane.Convert_v1beta1_FooControlPlaneTemplate_To_v1beta2_FooControlPlaneTemplate)
)

// fooControlPlane completes the infrastructure reference: v1beta1 references have a version and a
// namespace.
func fooControlPlane(mapper meta.RESTMapper) kind[controlplanev1.FooControlPlane, controlplanev1beta1.FooControlPlane,
	*controlplanev1.FooControlPlane, *controlplanev1beta1.FooControlPlane] {
	return newKind(func(in *controlplanev1.FooControlPlane, out *controlplanev1beta1.FooControlPlane, s apimachineryconversion.Scope) error {
		if err := controlplane.Convert_v1beta2_FooControlPlane_To_v1beta1_FooControlPlane(in, out, s); err != nil {
			return err
		}
		ref := in.Spec.MachineTemplate.Spec.InfrastructureRef
		if !ref.IsDefined() {
			return nil
		}
		version, err := servedVersion(mapper, ref.GroupKind())
		out.Spec.MachineTemplate.InfrastructureRef = corev1.ObjectReference{APIVersion: version, Kind: ref.Kind, Namespace: in.Namespace, Name: ref.Name}
		return err
	}, controlplane.Convert_v1beta1_FooControlPlane_To_v1beta2_FooControlPlane)
}

// servedVersion returns the API server's preferred group and version of a kind. A kind that it does
// not serve, perhaps because its provider was removed, must not make its owners unreadable, so it
// gets the version of the contract. If the API server cannot tell, the conversion fails: the result
// must not depend on a passing error.
func servedVersion(mapper meta.RESTMapper, of schema.GroupKind) (string, error) {
	if of.Group == "" {
		return "", nil
	}
	mapping, err := mapper.RESTMapping(of)
	switch {
	case meta.IsNoMatchError(err):
		return schema.GroupVersion{Group: of.Group, Version: clusterv1.GroupVersion.Version}.String(), nil
	case err != nil:
		return "", fmt.Errorf("looking up the version of %s in the API server: %w", of, err)
	}
	return mapping.GroupVersionKind.GroupVersion().String(), nil
}
