// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAvoidNode(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	other := corev1.Taint{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}
	avoided := corev1.Taint{Key: avoidTaintKey, Effect: corev1.TaintEffectPreferNoSchedule}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{other}}}
	c := fake.NewClientBuilder().WithObjects(node).Build()
	read := func() Node {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(node), node)).To(Succeed())
		return newNode(node, nil, EtcdStacked)
	}
	g.Expect(read().Avoided).To(BeFalse())

	g.Expect(setAvoidTaint(ctx, c, "a", avoided)).To(Succeed())
	g.Expect(read().Avoided).To(BeTrue())
	g.Expect(node.Spec.Taints).To(ConsistOf(other, avoided))
	written := node.ResourceVersion
	g.Expect(setAvoidTaint(ctx, c, "a", avoided)).To(Succeed())
	g.Expect(read().Avoided).To(BeTrue())
	g.Expect(node.ResourceVersion).To(Equal(written), "it writes only what differs")

	g.Expect(setAvoidTaint(ctx, c, "a")).To(Succeed())
	g.Expect(read().Avoided).To(BeFalse())
	g.Expect(node.Spec.Taints).To(ConsistOf(other))
	g.Expect(setAvoidTaint(ctx, c, "gone", avoided)).To(Succeed(), "a deleted Node is not an error")
}
