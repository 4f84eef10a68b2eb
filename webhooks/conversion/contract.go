// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
)

// contractStatus returns the status that the v1beta1 infrastructure contracts require. It never
// sets failures: a failure in a pool makes Cluster API's controller panic.
func contractStatus(conditions []metav1.Condition, provisioned *bool, observedGeneration int64) infrav1beta1.ContractStatus {
	status := infrav1beta1.ContractStatus{
		Ready:              provisioned != nil && *provisioned,
		ObservedGeneration: observedGeneration,
		Conditions:         legacyConditions(conditions, clusterv1.ReadyCondition),
	}
	if len(conditions) > 0 {
		status.V1Beta2 = &infrav1beta1.V1Beta2Status{Conditions: conditions}
	}
	return status
}

// modernConditions returns the v1beta2 conditions from the place where v1beta1 keeps them.
func modernConditions(status *infrav1beta1.V1Beta2Status) []metav1.Condition {
	if status == nil {
		return nil
	}
	return status.Conditions
}
