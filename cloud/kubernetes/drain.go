// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// DrainInstance implements cloud.Instances.
func (c *Cloud) DrainInstance(ctx context.Context, id string) error {
	pod, found, err := c.find(ctx, id)
	if err != nil {
		return err
	}
	if !found.Draining {
		if err := c.mark(ctx, pod, "labels", drainingLabel, yes); err != nil {
			return err
		}
	}
	return c.finishDrains(ctx)
}

// finishDrains takes draining instances out of their load balancers if each of these has another
// ready backend.
func (c *Cloud) finishDrains(ctx context.Context) error {
	draining, err := c.labelledPods(ctx, nil, map[string]string{drainingLabel: yes, backendLabel: yes})
	if err != nil || len(draining) == 0 {
		return err
	}
	services, err := c.services().List(ctx, metav1.ListOptions{LabelSelector: selector(kindLoadBalancer, nil, nil)})
	if err != nil {
		return c.translate(err)
	}
	pods, err := c.listPods(ctx, nil, nil)
	if err != nil {
		return err
	}
	for i := range draining {
		if !dispensable(&draining[i], services.Items, pods) {
			continue
		}
		if err := c.mark(ctx, &draining[i], "labels", backendLabel, nil); err != nil {
			return err
		}
	}
	return nil
}

// dispensable reports whether every load balancer that uses a Pod has another ready backend.
func dispensable(pod *corev1.Pod, services []corev1.Service, pods []corev1.Pod) bool {
	for i := range services {
		if selected := services[i].Spec.Selector; selects(selected, pod.Labels) && !hasReady(pods, selected) {
			return false
		}
	}
	return true
}

// hasReady reports whether an instance that a load balancer selects is ready and not draining.
func hasReady(pods []corev1.Pod, selected map[string]string) bool {
	for i := range pods {
		state, _ := stateOf(&pods[i])
		if selects(selected, pods[i].Labels) && state == cloud.InstanceRunning && isReady(pods[i]) && pods[i].Labels[drainingLabel] != yes {
			return true
		}
	}
	return false
}
