// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta1"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion/legacy"
)

// localSchemeBuilder gets the generated functions. Nobody looks them up in a scheme.
var localSchemeBuilder runtime.SchemeBuilder

func Convert_v1beta1_FooClusterSpec_To_v1beta2_FooClusterSpec(in *infrav1beta1.FooClusterSpec, out *infrav1.FooClusterSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooClusterSpec_To_v1beta2_FooClusterSpec(in, out, s); err != nil {
		return err
	}
	return legacy.Value(in.IdentityRef, &out.IdentityRef, Convert_v1beta1_FooClusterIdentityReference_To_v1beta2_FooClusterIdentityReference)
}

func Convert_v1beta2_FooClusterSpec_To_v1beta1_FooClusterSpec(in *infrav1.FooClusterSpec, out *infrav1beta1.FooClusterSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta2_FooClusterSpec_To_v1beta1_FooClusterSpec(in, out, s); err != nil {
		return err
	}
	return legacy.Pointer(&in.IdentityRef, &out.IdentityRef, Convert_v1beta2_FooClusterIdentityReference_To_v1beta1_FooClusterIdentityReference)
}

func Convert_v1beta1_FooClusterStatus_To_v1beta2_FooClusterStatus(in *infrav1beta1.FooClusterStatus, out *infrav1.FooClusterStatus, _ conversion.Scope) error {
	out.Conditions, out.ObservedGeneration = modernConditions(in.ContractStatus), in.ObservedGeneration
	out.Initialization.Provisioned = legacy.NonZero(in.Ready)
	for _, name := range slices.Sorted(maps.Keys(in.FailureDomains)) {
		domain := in.FailureDomains[name]
		out.FailureDomains = append(out.FailureDomains, clusterv1.FailureDomain{
			Name: name, ControlPlane: &domain.ControlPlane, Attributes: domain.Attributes,
		})
	}
	return nil
}

func Convert_v1beta2_FooClusterStatus_To_v1beta1_FooClusterStatus(in *infrav1.FooClusterStatus, out *infrav1beta1.FooClusterStatus, _ conversion.Scope) error {
	out.ContractStatus = contractStatus(in.Conditions, in.Initialization.Provisioned, in.ObservedGeneration)
	if len(in.FailureDomains) > 0 {
		out.FailureDomains = clusterv1beta1.FailureDomains{}
	}
	for _, domain := range in.FailureDomains {
		out.FailureDomains[domain.Name] = clusterv1beta1.FailureDomainSpec{
			ControlPlane: ptr.Deref(domain.ControlPlane, false), Attributes: domain.Attributes,
		}
	}
	return nil
}

func Convert_v1beta1_FooMachineSpec_To_v1beta2_FooMachineSpec(in *infrav1beta1.FooMachineSpec, out *infrav1.FooMachineSpec, s conversion.Scope) error {
	return autoConvert_v1beta1_FooMachineSpec_To_v1beta2_FooMachineSpec(in, out, s)
}

func Convert_v1beta2_FooMachineSpec_To_v1beta1_FooMachineSpec(in *infrav1.FooMachineSpec, out *infrav1beta1.FooMachineSpec, s conversion.Scope) error {
	err := autoConvert_v1beta2_FooMachineSpec_To_v1beta1_FooMachineSpec(in, out, s)
	out.ProviderID = legacy.NonZero(in.ProviderID)
	return err
}

// Convert_v1beta1_FooMachine_To_v1beta2_FooMachine moves the zone, which the v1beta1 contract
// expects in the spec.
func Convert_v1beta1_FooMachine_To_v1beta2_FooMachine(in *infrav1beta1.FooMachine, out *infrav1.FooMachine, s conversion.Scope) error {
	err := autoConvert_v1beta1_FooMachine_To_v1beta2_FooMachine(in, out, s)
	out.Status.FailureDomain = ptr.Deref(in.Spec.FailureDomain, "")
	return err
}

// Convert_v1beta2_FooMachine_To_v1beta1_FooMachine moves the zone into the spec.
func Convert_v1beta2_FooMachine_To_v1beta1_FooMachine(in *infrav1.FooMachine, out *infrav1beta1.FooMachine, s conversion.Scope) error {
	err := autoConvert_v1beta2_FooMachine_To_v1beta1_FooMachine(in, out, s)
	out.Spec.FailureDomain = legacy.NonZero(in.Status.FailureDomain)
	return err
}

func Convert_v1beta1_FooMachineStatus_To_v1beta2_FooMachineStatus(in *infrav1beta1.FooMachineStatus, out *infrav1.FooMachineStatus, s conversion.Scope) error {
	err := autoConvert_v1beta1_FooMachineStatus_To_v1beta2_FooMachineStatus(in, out, s)
	out.Conditions, out.ObservedGeneration = modernConditions(in.ContractStatus), in.ObservedGeneration
	out.Initialization.Provisioned = legacy.NonZero(in.Ready)
	return err
}

func Convert_v1beta2_FooMachineStatus_To_v1beta1_FooMachineStatus(in *infrav1.FooMachineStatus, out *infrav1beta1.FooMachineStatus, s conversion.Scope) error {
	err := autoConvert_v1beta2_FooMachineStatus_To_v1beta1_FooMachineStatus(in, out, s)
	out.ContractStatus = contractStatus(in.Conditions, in.Initialization.Provisioned, in.ObservedGeneration)
	return err
}

func Convert_v1beta1_FooMachineTemplateStatus_To_v1beta2_FooMachineTemplateStatus(in *infrav1beta1.FooMachineTemplateStatus, out *infrav1.FooMachineTemplateStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooMachineTemplateStatus_To_v1beta2_FooMachineTemplateStatus(in, out, s); err != nil {
		return err
	}
	return legacy.Value(in.NodeInfo, &out.NodeInfo, Convert_v1beta1_NodeInfo_To_v1beta2_NodeInfo)
}

func Convert_v1beta2_FooMachineTemplateStatus_To_v1beta1_FooMachineTemplateStatus(in *infrav1.FooMachineTemplateStatus, out *infrav1beta1.FooMachineTemplateStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta2_FooMachineTemplateStatus_To_v1beta1_FooMachineTemplateStatus(in, out, s); err != nil {
		return err
	}
	return legacy.Pointer(&in.NodeInfo, &out.NodeInfo, Convert_v1beta2_NodeInfo_To_v1beta1_NodeInfo)
}

func Convert_v1beta2_FooMachinePoolSpec_To_v1beta1_FooMachinePoolSpec(in *infrav1.FooMachinePoolSpec, out *infrav1beta1.FooMachinePoolSpec, s conversion.Scope) error {
	return autoConvert_v1beta2_FooMachinePoolSpec_To_v1beta1_FooMachinePoolSpec(in, out, s)
}

func Convert_v1beta1_FooMachinePoolStatus_To_v1beta2_FooMachinePoolStatus(in *infrav1beta1.FooMachinePoolStatus, out *infrav1.FooMachinePoolStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooMachinePoolStatus_To_v1beta2_FooMachinePoolStatus(in, out, s); err != nil {
		return err
	}
	out.Conditions, out.ObservedGeneration = modernConditions(in.ContractStatus), in.ObservedGeneration
	out.Initialization.Provisioned, out.Ready = legacy.NonZero(in.Ready), legacy.NonZero(in.Ready)
	out.Replicas = legacy.NonZero(in.Replicas)
	return legacy.Value(in.NodeInfo, &out.NodeInfo, Convert_v1beta1_NodeInfo_To_v1beta2_NodeInfo)
}

func Convert_v1beta2_FooMachinePoolStatus_To_v1beta1_FooMachinePoolStatus(in *infrav1.FooMachinePoolStatus, out *infrav1beta1.FooMachinePoolStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta2_FooMachinePoolStatus_To_v1beta1_FooMachinePoolStatus(in, out, s); err != nil {
		return err
	}
	out.ContractStatus = contractStatus(in.Conditions, in.Initialization.Provisioned, in.ObservedGeneration)
	return legacy.Pointer(&in.NodeInfo, &out.NodeInfo, Convert_v1beta2_NodeInfo_To_v1beta1_NodeInfo)
}

func Convert_v1beta2_FooMachinePoolInstanceStatus_To_v1beta1_FooMachinePoolInstanceStatus(in *infrav1.FooMachinePoolInstanceStatus, out *infrav1beta1.FooMachinePoolInstanceStatus, s conversion.Scope) error {
	return autoConvert_v1beta2_FooMachinePoolInstanceStatus_To_v1beta1_FooMachinePoolInstanceStatus(in, out, s)
}

// contractStatus returns the status that the v1beta1 infrastructure contracts require. It never
// sets failures: a failure in a pool makes Cluster API's controller panic.
func contractStatus(conditions []metav1.Condition, provisioned *bool, observedGeneration int64) infrav1beta1.ContractStatus {
	status := infrav1beta1.ContractStatus{
		Ready:              ptr.Deref(provisioned, false),
		ObservedGeneration: observedGeneration,
		Conditions:         legacy.Conditions(conditions, clusterv1.ReadyCondition),
	}
	if len(conditions) > 0 {
		status.V1Beta2 = &infrav1beta1.V1Beta2Status{Conditions: conditions}
	}
	return status
}

// modernConditions returns the v1beta2 conditions from the place where v1beta1 keeps them.
func modernConditions(status infrav1beta1.ContractStatus) []metav1.Condition {
	if status.V1Beta2 == nil {
		return nil
	}
	return status.V1Beta2.Conditions
}
