// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// DrainInstance implements cloud.Instances.
func (c *Cloud) DrainInstance(ctx context.Context, id string) error {
	pod, found, err := c.find(ctx, id)
	if err != nil {
		return err
	}
	if !found.Draining {
		if err := c.label(ctx, pod, drainingLabel, ptr.To(yes)); err != nil {
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
	var balancers []cloud.LoadBalancer
	for i := range services.Items {
		one, err := balancerOf(&services.Items[i])
		if err != nil {
			return err
		}
		balancers = append(balancers, one)
	}
	for i := range draining {
		spare, err := dispensable(&draining[i], balancers, pods)
		if err == nil && spare {
			err = c.label(ctx, &draining[i], backendLabel, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dispensable reports whether every load balancer that uses a Pod has another ready backend.
func dispensable(pod *corev1.Pod, balancers []cloud.LoadBalancer, pods []corev1.Pod) (bool, error) {
	instance, err := instanceOf(pod)
	if err != nil {
		return false, err
	}
	for _, balancer := range balancers {
		if !instance.Tags.Contains(balancer.Selector) {
			continue
		}
		other, err := hasReady(pods, balancer.Selector)
		if err != nil || !other {
			return false, err
		}
	}
	return true, nil
}

// hasReady reports whether an instance with the tags is ready and not draining.
func hasReady(pods []corev1.Pod, tags cloud.Tags) (bool, error) {
	for i := range pods {
		one, err := instanceOf(&pods[i])
		if err != nil {
			return false, err
		}
		if !one.Draining && one.State == cloud.InstanceRunning && isReady(pods[i]) && one.Tags.Contains(tags) {
			return true, nil
		}
	}
	return false, nil
}

// label sets a label of a Pod, or removes it if the value is nil.
func (c *Cloud) label(ctx context.Context, pod *corev1.Pod, key string, value *string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "labels": map[string]*string{key: value}}})
	if err != nil {
		return fmt.Errorf("encode a label: %w", err)
	}
	_, err = c.pods().Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if isGone(err) {
		return nil
	}
	return c.translate(err)
}
