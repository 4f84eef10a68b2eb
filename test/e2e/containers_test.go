//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Nodes have these images from the start, so no story needs a registry.
const (
	// pauseImage does nothing, and ends as soon as it is told to.
	pauseImage = "registry.k8s.io/pause:3.10.2"
	// shellImage is the only one that has a shell and Debian's commands.
	shellImage = "registry.k8s.io/kube-proxy:" + currentVersion
)

// memoryLimit are the files of a container, of which each version of cgroups has one, that hold how much memory it may take.
const memoryLimit = "/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes"

// hello is a command for shellImage that says where it runs, and ends as soon as it is told to.
var hello = []string{"sh", "-c", `echo "hello from $(hostname)"; trap "exit 0" TERM; sleep infinity & wait`}

// runPod makes a Pod of one container, which is not started again once it ends, on a Node; the scheduler chooses one if none is named.
func (c *cluster) runPod(ctx context.Context, name, node string, container corev1.Container, changes ...func(*corev1.PodSpec)) *corev1.Pod {
	GinkgoHelper()
	container.Name = name
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec:       corev1.PodSpec{NodeName: node, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container}},
	}
	for _, change := range changes {
		change(&pod.Spec)
	}
	Expect(c.workload.Create(ctx, pod)).To(Succeed())
	return pod
}

// privileged gives a Pod all the rights that its Node can give, and the Node's own namespaces.
func privileged(spec *corev1.PodSpec) {
	spec.HostPID, spec.HostNetwork, spec.HostIPC = true, true, true
	spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
}

// critical keeps the kubelet from evicting a Pod when its Node is short of memory. Who the kernel
// kills does not depend on it.
func critical(spec *corev1.PodSpec) { spec.PriorityClassName = "system-node-critical" }

// podReady waits until a Pod is Ready, and returns it as it is then.
func (c *cluster) podReady(ctx context.Context, pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	now := &corev1.Pod{}
	Eventually(func(g Gomega) {
		g.Expect(c.workload.Get(ctx, client.ObjectKeyFromObject(pod), now)).To(Succeed())
		g.Expect(podReadiness(now)).To(HaveField("Status", corev1.ConditionTrue))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "Pod %s is not Ready", pod.Name)
	return now
}

// podReadiness is the condition Ready of a Pod, without when the kubelet has looked; empty if there is none.
func podReadiness(pod *corev1.Pod) corev1.PodCondition {
	index := slices.IndexFunc(pod.Status.Conditions, func(one corev1.PodCondition) bool { return one.Type == corev1.PodReady })
	if index < 0 {
		return corev1.PodCondition{}
	}
	condition := pod.Status.Conditions[index]
	condition.LastProbeTime = metav1.Time{}
	return condition
}

// readySince is when a Node became Ready, or ceased to be.
func readySince(node corev1.Node) metav1.Time {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.LastTransitionTime
		}
	}
	return metav1.Time{}
}

// addressOf returns the address of a Node in the cloud's network.
func addressOf(node corev1.Node) string {
	GinkgoHelper()
	index := slices.IndexFunc(node.Status.Addresses, func(one corev1.NodeAddress) bool { return one.Type == corev1.NodeInternalIP })
	Expect(index).To(BeNumerically(">=", 0), "Node %s has no address", node.Name)
	return node.Status.Addresses[index].Address
}

// fetch returns what an address answers.
func fetch(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(answer.Body)
	return string(text), errors.Join(err, answer.Body.Close())
}
