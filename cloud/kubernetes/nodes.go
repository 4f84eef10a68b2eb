// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// reclaimNotice is the time from the cordoning of an outer node to the announced end of its
// instances. They end earlier if they have been replaced, and later if a PodDisruptionBudget
// protects them until then.
const reclaimNotice = 10 * time.Minute

// followNodes makes tasks of outer nodes that are cordoned until ctx ends. `kubectl drain` cordons a
// node before it evicts its Pods. Until the token is allowed to watch Nodes, drains come without
// notice.
func (c *Cloud) followNodes(ctx context.Context, queue taskQueue) {
	for told := false; !c.mayWatchNodes(ctx); told = true {
		if ctx.Err() != nil {
			return
		}
		if !told {
			klog.FromContext(ctx).Info("The token is not allowed to watch Nodes: instances get no notice when one of them is drained", "namespace", c.namespace)
		}
		pause(ctx, c.askAgain)
	}
	cordoned := cache.NewListWatchFromClient(c.streams.RESTClient(), "nodes", metav1.NamespaceAll, fields.OneTermEqualSelector("spec.unschedulable", "true"))
	add := func(object any) {
		if node, ok := object.(*corev1.Node); ok {
			queue.Add(task{taskNode, node.Name})
		}
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cordoned, ObjectType: &corev1.Node{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }},
	})
	informer.RunWithContext(ctx)
}

// mayWatchNodes asks the API server until it answers. It returns false if ctx ends before.
func (c *Cloud) mayWatchNodes(ctx context.Context) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "watch", Resource: "nodes"},
	}}
	delays := retryDelays
	for ctx.Err() == nil {
		answer, err := c.reviews.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil {
			return answer.Status.Allowed
		}
		pause(ctx, delays.Step())
	}
	return false
}

// giveNotice announces the end of the instances on an outer node.
func (c *Cloud) giveNotice(ctx context.Context, node string) error {
	pods, err := c.pods().List(ctx, metav1.ListOptions{
		LabelSelector: selector(kindInstance, nil, nil), FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String(),
	})
	if err != nil {
		return c.translate(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if isDeleting(pod) || pod.Annotations[reclaimAnnotation] != "" {
			continue
		}
		end := time.Now().Add(reclaimNotice).UTC().Format(time.RFC3339)
		if err := c.mark(ctx, pod, "annotations", reclaimAnnotation, end); err != nil {
			return err
		}
	}
	return nil
}

// reclaimOf returns when an instance ends because its outer node is drained; nil if it does not.
func reclaimOf(pod *corev1.Pod) *time.Time {
	end, err := time.Parse(time.RFC3339, pod.Annotations[reclaimAnnotation])
	if err != nil {
		return nil
	}
	return &end
}
