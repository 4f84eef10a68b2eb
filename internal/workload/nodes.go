// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func listNodes(ctx context.Context, reader client.Reader, mode EtcdMode) ([]Node, error) {
	nodes := &corev1.NodeList{}
	if err := reader.List(ctx, nodes, client.HasLabels{nodeRoleLabel}); err != nil {
		return nil, fmt.Errorf("listing the control plane's nodes: %w", err)
	}
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels(controlPlanePods())); err != nil {
		return nil, fmt.Errorf("listing the control plane's static pods: %w", err)
	}
	byName := make(map[string]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		byName[pods.Items[i].Name] = &pods.Items[i]
	}
	if err := addUnlabelled(ctx, reader, nodes, pods.Items); err != nil {
		return nil, err
	}
	result := make([]Node, 0, len(nodes.Items))
	for i := range nodes.Items {
		result = append(result, newNode(&nodes.Items[i], byName, mode))
	}
	slices.SortFunc(result, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return result, nil
}

// addUnlabelled adds the Nodes that run an API server but lack the label for it.
func addUnlabelled(ctx context.Context, reader client.Reader, nodes *corev1.NodeList, pods []corev1.Pod) error {
	known := map[string]bool{}
	for _, node := range nodes.Items {
		known[node.Name] = true
	}
	for _, pod := range pods {
		name := pod.Spec.NodeName
		if name == "" || known[name] || pod.Name != staticPodName(APIServer, name) {
			continue
		}
		node := &corev1.Node{}
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, node); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("getting node %s: %w", name, err)
		} else if err == nil {
			nodes.Items = append(nodes.Items, *node)
		}
	}
	return nil
}

func newNode(node *corev1.Node, pods map[string]*corev1.Pod, mode EtcdMode) Node {
	result := Node{
		Name:       node.Name,
		ProviderID: node.Spec.ProviderID,
		Ready:      util.IsNodeReady(node),
		Unlabelled: !labelled(node),
		Untainted:  untainted(node),
		Avoided:    slices.ContainsFunc(node.Spec.Taints, isAvoidTaint),
		Pods:       map[Component]Pod{},
	}
	for _, component := range Components(mode) {
		result.Pods[component] = newPod(pods[staticPodName(component, node.Name)])
	}
	return result
}

func labelled(node client.Object) bool {
	_, ok := node.GetLabels()[nodeRoleLabel]
	return ok
}

func untainted(node *corev1.Node) bool {
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == nodeRoleLabel && taint.Effect == corev1.TaintEffectNoSchedule
	})
}

func staticPodName(component Component, node string) string { return string(component) + "-" + node }

func newPod(pod *corev1.Pod) Pod {
	switch {
	case pod == nil:
		return Pod{State: PodMissing, Message: "the pod does not exist"}
	case !pod.DeletionTimestamp.IsZero():
		return Pod{State: PodDeleting, Message: "the pod is being deleted"}
	case podReady(pod):
		return Pod{State: PodRunning}
	case pod.Status.Phase == corev1.PodPending:
		return Pod{State: PodProvisioning, Message: "the pod is starting"}
	}
	return notReadyPod(pod)
}

func podReady(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

func notReadyPod(pod *corev1.Pod) Pod {
	for _, container := range pod.Status.ContainerStatuses {
		if waiting := container.State.Waiting; waiting != nil && container.LastTerminationState.Terminated == nil {
			return Pod{State: PodProvisioning, Message: "its container is waiting: " + waiting.Reason}
		}
		if waiting := container.State.Waiting; waiting != nil {
			return Pod{State: PodFailed, Message: "its container keeps exiting: " + waiting.Reason}
		}
		if ended := container.State.Terminated; ended != nil {
			return Pod{State: PodFailed, Message: fmt.Sprintf("its container exited with code %d: %s", ended.ExitCode, ended.Reason)}
		}
	}
	if pod.Status.Phase == corev1.PodRunning {
		return Pod{State: PodProvisioning, Message: "the pod is running but not ready"}
	}
	return Pod{State: PodFailed, Message: "the pod is in phase " + string(pod.Status.Phase)}
}

// avoidTaintKey differs from the taint that Cluster API puts on the Nodes of outdated MachineSets,
// because Cluster API removes that taint from all other Nodes.
const avoidTaintKey = "controlplane.cluster.x-k8s.io/outdated"

func isAvoidTaint(taint corev1.Taint) bool { return taint.Key == avoidTaintKey }

// AvoidNode implements Access.
func (c *Connections) AvoidNode(ctx context.Context, cluster client.ObjectKey, name string, avoid bool) error {
	wanted := map[bool][]corev1.Taint{true: {{Key: avoidTaintKey, Effect: corev1.TaintEffectPreferNoSchedule}}}
	return c.write(ctx, cluster, func(ctx context.Context, direct client.Client) error {
		return setAvoidTaint(ctx, direct, name, wanted[avoid]...)
	})
}

// setAvoidTaint adds the wanted taint to a Node, or removes the taint if none is wanted.
func setAvoidTaint(ctx context.Context, c client.Client, name string, wanted ...corev1.Taint) error {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	if slices.ContainsFunc(node.Spec.Taints, isAvoidTaint) == (len(wanted) > 0) {
		return nil
	}
	before := node.DeepCopy()
	node.Spec.Taints = append(slices.DeleteFunc(node.Spec.Taints, isAvoidTaint), wanted...)
	// The patch replaces all taints, so it must fail if somebody else has changed them meanwhile.
	if err := c.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("changing the taints of node %s: %w", name, err)
	}
	return nil
}
