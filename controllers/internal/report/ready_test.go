// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReady(t *testing.T) {
	g := NewWithT(t)
	good := metav1.Condition{Type: "A", Status: metav1.ConditionTrue, Reason: "Good"}
	bad := metav1.Condition{Type: "B", Status: metav1.ConditionFalse, Reason: "Bad", Message: "broken"}
	unknown := metav1.Condition{Type: "C", Status: metav1.ConditionUnknown, Reason: "Dark"}
	g.Expect(Ready()).To(Equal(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"}))
	g.Expect(Ready(good)).To(Equal(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"}))
	g.Expect(Ready(good, bad, unknown)).To(Equal(metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Bad", Message: "broken"}))
	g.Expect(Ready(unknown, bad)).To(Equal(metav1.Condition{Type: "Ready", Status: metav1.ConditionUnknown, Reason: "Dark"}))
}
