// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

// Watch implements Access.
func (c *Connections) Watch(ctx context.Context, watch Watch) error {
	watchers := []clustercache.Watcher{
		clustercache.NewWatcher(clustercache.WatcherOptions{
			Name:         "controlplane-nodes",
			Watcher:      watch.Controller,
			Kind:         &corev1.Node{},
			EventHandler: watch.Handler,
			Predicates:   []predicate.Predicate{nodeChanged()},
		}),
		clustercache.NewWatcher(clustercache.WatcherOptions{
			Name:         "controlplane-pods",
			Watcher:      watch.Controller,
			Kind:         &corev1.Pod{},
			EventHandler: watch.Handler,
			Predicates:   []predicate.Predicate{podChanged()},
		}),
	}
	for _, watcher := range watchers {
		if err := c.cache.Watch(ctx, watch.Cluster, watcher); err != nil {
			return fmt.Errorf("watching %s: %w", watcher.Name(), err)
		}
	}
	return nil
}

// nodeChanged passes the changes of a control plane Node that an observation would show. It drops
// heartbeats and workers.
func nodeChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return labelled(e.Object) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return labelled(e.Object) },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*corev1.Node)
			after, okAfter := e.ObjectNew.(*corev1.Node)
			if !okBefore || !okAfter || !labelled(before) && !labelled(after) {
				return false
			}
			return !reflect.DeepEqual(newNode(before, nil, EtcdExternal), newNode(after, nil, EtcdExternal))
		},
	}
}

// podChanged passes the changes of a static Pod that an observation would show.
func podChanged() predicate.Predicate {
	controlPlane := func(object client.Object) bool {
		return controlPlanePods().AsSelector().Matches(labels.Set(object.GetLabels()))
	}
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return controlPlane(e.Object) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return controlPlane(e.Object) },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*corev1.Pod)
			after, okAfter := e.ObjectNew.(*corev1.Pod)
			return okBefore && okAfter && controlPlane(after) && newPod(before) != newPod(after)
		},
	}
}
