// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestNewPod(t *testing.T) {
	ready := corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	container := func(state corev1.ContainerState, last corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{
			Phase:             corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{State: state, LastTerminationState: last}},
		}
	}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}
	now := metav1.Now()
	tests := map[string]struct {
		pod   *corev1.Pod
		state PodState
	}{
		"missing":          {nil, PodMissing},
		"ready":            {&corev1.Pod{Status: ready}, PodRunning},
		"pending":          {&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, PodProvisioning},
		"not ready":        {&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, PodProvisioning},
		"first start":      {&corev1.Pod{Status: container(waiting, corev1.ContainerState{})}, PodProvisioning},
		"keeps exiting":    {&corev1.Pod{Status: container(waiting, ended)}, PodFailed},
		"exited":           {&corev1.Pod{Status: container(ended, corev1.ContainerState{})}, PodFailed},
		"phase Failed":     {&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, PodFailed},
		"is being deleted": {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Status: ready}, PodDeleting},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(newPod(test.pod).State).To(Equal(test.state))
		})
	}
}

func TestListNodes(t *testing.T) {
	g := NewWithT(t)
	reader := fake.NewClientBuilder().WithObjects(
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{nodeRoleLabel: ""}},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{nodeRoleLabel: ""}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "unlabelled"}, Spec: corev1.NodeSpec{
			Taints: []corev1.Taint{{Key: nodeRoleLabel, Effect: corev1.TaintEffectNoSchedule}},
		}},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-apiserver-unlabelled", Labels: controlPlanePods()},
			Spec:       corev1.PodSpec{NodeName: "unlabelled"},
		},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-apiserver-gone", Labels: controlPlanePods()},
			Spec:       corev1.PodSpec{NodeName: "gone"},
		},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "other", Labels: controlPlanePods()},
			Spec:       corev1.PodSpec{NodeName: "worker"},
		},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "etcd-b", Labels: controlPlanePods()},
			Status: corev1.PodStatus{
				Phase:      corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			},
		},
	).Build()

	nodes, err := listNodes(context.Background(), reader, EtcdStacked)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(nodes).To(HaveLen(3))
	g.Expect(nodes[2]).To(And(HaveField("Name", "unlabelled"), HaveField("Unlabelled", true), HaveField("Untainted", false)))
	g.Expect(nodes[0]).To(And(HaveField("Unlabelled", false), HaveField("Untainted", true)))
	g.Expect(nodes[0].Name).To(Equal("a"))
	g.Expect(nodes[0].Ready).To(BeFalse())
	g.Expect(nodes[1].Ready).To(BeTrue())
	g.Expect(nodes[1].Pods[Etcd].State).To(Equal(PodRunning))
	g.Expect(nodes[1].Pods[APIServer].State).To(Equal(PodMissing))

	external, err := listNodes(context.Background(), reader, EtcdExternal)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(external[0].Pods).NotTo(HaveKey(Etcd))
}

func TestWhatOfANodeIsReported(t *testing.T) {
	before := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{nodeRoleLabel: ""}}}
	for name, test := range map[string]struct {
		change func(*corev1.Node)
		want   bool
	}{
		"a heartbeat": {func(node *corev1.Node) {
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastHeartbeatTime: metav1.Now()}}
		}, false},
		"another label":         {func(node *corev1.Node) { node.Labels["other"] = "" }, false},
		"the loss of the label": {func(node *corev1.Node) { node.Labels = nil }, true},
		"its readiness": {func(node *corev1.Node) {
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}, true},
		"its provider ID": {func(node *corev1.Node) { node.Spec.ProviderID = "foo://a" }, true},
		"kubeadm's taint": {func(node *corev1.Node) {
			node.Spec.Taints = []corev1.Taint{{Key: nodeRoleLabel, Effect: corev1.TaintEffectNoSchedule}}
		}, true},
		"the taint of AvoidNode": {func(node *corev1.Node) { node.Spec.Taints = []corev1.Taint{{Key: avoidTaintKey}} }, true},
		"somebody else's taint":  {func(node *corev1.Node) { node.Spec.Taints = []corev1.Taint{{Key: "dedicated"}} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			after := before.DeepCopy()
			test.change(after)
			got := nodeChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}
