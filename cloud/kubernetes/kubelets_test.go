//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// outerNode is a Node of the outer cluster, named after its zone.
func outerNode(zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: zone, Labels: map[string]string{zoneLabel: zone}}}
}

// kubelets stands in for the scheduler and the kubelets of a namespace of the outer cluster: Pods
// run as soon as they are created, and end as soon as they are deleted. No program runs.
type kubelets struct {
	t       *testing.T
	outer   kubernetes.Interface
	address atomic.Int32
}

func startKubelets(t *testing.T, outer kubernetes.Interface, namespace string) {
	t.Helper()
	k := &kubelets{t: t, outer: outer}
	pods := cache.NewListWatchFromClient(outer.CoreV1().RESTClient(), "pods", namespace, fields.Everything())
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: pods, ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { k.see(object) },
			UpdateFunc: func(_, object any) { k.see(object) },
		},
	})
	go informer.RunWithContext(t.Context())
}

func (k *kubelets) see(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		k.t.Errorf("%T in a watch of Pods", object)
		return
	}
	if err := k.act(k.t.Context(), pod.DeepCopy()); err != nil && k.t.Context().Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		k.t.Errorf("Pod %s: %v", pod.Name, err)
	}
}

func (k *kubelets) act(ctx context.Context, pod *corev1.Pod) error {
	pods := k.outer.CoreV1().Pods(pod.Namespace)
	switch {
	case isDeleting(pod):
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	case pod.Status.Phase != corev1.PodPending || pod.Labels["test"] == "ignored":
		return nil
	case pod.Spec.NodeName == "":
		return k.schedule(ctx, pod)
	}
	if err := k.mount(ctx, pod); err != nil {
		now, gone := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if gone != nil || isDeleting(now) {
			return gone
		}
		k.t.Errorf("Pod %s cannot start: %v", pod.Name, err)
		return nil
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.PodIP = fmt.Sprintf("10.9.%d.%d", k.address.Load()/250, k.address.Add(1)%250+1)
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: containerName, Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	_, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// schedule binds a Pod to a Node that it selects.
func (k *kubelets) schedule(ctx context.Context, pod *corev1.Pod) error {
	nodes, err := k.outer.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(pod.Spec.NodeSelector).String()})
	if err != nil || len(nodes.Items) == 0 {
		return err
	}
	return k.outer.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: nodes.Items[0].Name},
	}, metav1.CreateOptions{})
}

// mount returns an error if something is missing that the Pod mounts.
func (k *kubelets) mount(ctx context.Context, pod *corev1.Pod) error {
	for _, volume := range pod.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret == nil {
				continue
			}
			if _, err := k.outer.CoreV1().Secrets(pod.Namespace).Get(ctx, source.Secret.Name, metav1.GetOptions{}); err != nil {
				return fmt.Errorf("volume %s: %w", volume.Name, err)
			}
		}
	}
	return nil
}
