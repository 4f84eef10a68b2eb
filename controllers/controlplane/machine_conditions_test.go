// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func TestNodeCondition(t *testing.T) {
	const label, taint = "label node-role.kubernetes.io/control-plane", "taint node-role.kubernetes.io/control-plane:NoSchedule"
	own := []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	kubeadms := append(slices.Clone(own), corev1.Taint{Key: controlPlaneRole, Effect: corev1.TaintEffectNoSchedule})
	joining := func(taints *[]corev1.Taint) bootstrapv1.KubeadmConfigSpec {
		return bootstrapv1.KubeadmConfigSpec{JoinConfiguration: bootstrapv1.JoinConfiguration{
			ControlPlane: &bootstrapv1.JoinControlPlane{}, NodeRegistration: bootstrapv1.NodeRegistrationOptions{Taints: taints},
		}}
	}
	first := bootstrapv1.KubeadmConfigSpec{}
	first.InitConfiguration.NodeRegistration.Taints = ptr.To([]corev1.Taint{})
	tests := map[string]struct {
		node   workload.Node
		config bootstrapv1.KubeadmConfigSpec
		taints []clusterv1.MachineTaint
		want   string
	}{
		"both exist":                           {config: joining(nil)},
		"no label":                             {node: workload.Node{Unlabelled: true}, config: joining(nil), want: label},
		"no taint":                             {node: workload.Node{Untainted: true}, config: joining(nil), want: taint},
		"neither":                              {node: workload.Node{Unlabelled: true, Untainted: true}, config: joining(nil), want: label + " and the " + taint},
		"configured without taints":            {node: workload.Node{Untainted: true}, config: joining(ptr.To([]corev1.Taint{}))},
		"configured with other taints":         {node: workload.Node{Untainted: true}, config: joining(&own)},
		"configured with kubeadm's and others": {node: workload.Node{Untainted: true}, config: joining(&kubeadms), want: taint},
		"first Machine, configured without taints": {node: workload.Node{Untainted: true}, config: first},
		"the Machine's own taint": {
			node: workload.Node{Untainted: true}, config: joining(&own),
			taints: []clusterv1.MachineTaint{{Key: controlPlaneRole, Effect: corev1.TaintEffectNoSchedule}}, want: taint,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
			machine.Status.NodeRef.Name, machine.Spec.Taints = "n", test.taints
			test.node.Name = "n"
			s := &scope{
				observation: &workload.Observation{Nodes: []workload.Node{test.node}},
				configs:     map[string]*bootstrapv1.KubeadmConfig{"m": {Spec: test.config}},
			}
			condition := s.nodeCondition(machine)
			if test.want == "" {
				g.Expect(condition).To(And(HaveField("Status", metav1.ConditionTrue),
					HaveField("Reason", controlplanev1.MachineNodeKubeadmLabelsAndTaintsSetReason)))
				return
			}
			g.Expect(condition).To(And(HaveField("Status", metav1.ConditionFalse),
				HaveField("Reason", controlplanev1.MachineNodeKubeadmLabelsAndTaintsNotSetReason),
				HaveField("Message", "Node n does not have the "+test.want)))
		})
	}
}

func TestWhatWasKnownIsShownForTheGrace(t *testing.T) {
	g := NewWithT(t)
	s := &scope{now: time.Now(), memory: &memory{}}
	s.memory.lastSeen = s.now.Add(-6 * time.Minute)
	g.Expect(s.stillShown()).To(BeFalse(), "the default is five minutes")
	s.unseenGrace = 7 * time.Minute
	g.Expect(s.stillShown()).To(BeTrue())
}

func TestUpToDate(t *testing.T) {
	g := NewWithT(t)
	s, machine := guarded(t)
	machine.Spec.Version = "v1.35.4"
	g.Expect(s.compare()).To(Succeed())
	g.Expect(s.upToDateCondition(machine)).To(And(HaveField("Type", clusterv1.MachineUpToDateCondition), HaveField("Status", metav1.ConditionFalse),
		HaveField("Reason", clusterv1.MachineNotUpToDateReason), HaveField("Message", "* Version v1.35.4, v1.36.3 required")))
	machine.Spec.Version = "v1.36.3"
	g.Expect(s.compare()).To(Succeed())
	g.Expect(s.upToDateCondition(machine)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", clusterv1.MachineUpToDateReason)))
}

// A Machine whose kubelet has another version is not up to date, but need not be replaced.
func TestUpToDateWithTheKubelet(t *testing.T) {
	g := NewWithT(t)
	s, machine := guarded(t)
	g.Expect(s.compare()).To(Succeed())
	g.Expect(s.upToDateCondition(machine).Status).To(Equal(metav1.ConditionTrue), "before there is a Node")
	machine.Status.NodeInfo = &corev1.NodeSystemInfo{KubeletVersion: "v1.35.9"}
	g.Expect(s.upToDateCondition(machine)).To(And(HaveField("Status", metav1.ConditionFalse),
		HaveField("Reason", clusterv1.MachineUpToDateUpdatingReason), HaveField("Message", "* The kubelet has version v1.35.9, v1.36.3 required")))
	g.Expect(s.differences["m"]).To(BeEmpty())
	machine.Status.NodeInfo.KubeletVersion = "v1.36.3"
	g.Expect(s.upToDateCondition(machine).Status).To(Equal(metav1.ConditionTrue))
}
