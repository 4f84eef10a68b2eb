// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Ready returns the Ready condition derived from other conditions with positive polarity, the most
// important first. It is true if all of them are true. Otherwise it repeats the first one that is
// not, so Ready alone explains what is wrong.
func Ready(dependencies ...metav1.Condition) metav1.Condition {
	for _, c := range dependencies {
		if c.Status != metav1.ConditionTrue {
			return metav1.Condition{Type: clusterv1.ReadyCondition, Status: c.Status, Reason: c.Reason, Message: c.Message}
		}
	}
	return metav1.Condition{Type: clusterv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ReadyReason}
}
