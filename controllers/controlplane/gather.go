// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// gatherTime is how long to collect events of Machines, Nodes and static pods. They come in bursts,
// and each reconcile asks every etcd member.
const gatherTime = 300 * time.Millisecond

// gatheringQueue delays requests so that equal ones merge.
type gatheringQueue struct {
	workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// Add implements workqueue.TypedInterface.
func (q gatheringQueue) Add(request ctrl.Request) { q.AddAfter(request, gatherTime) }

// gathered merges the requests that a handler makes for the same object within gatherTime.
func gathered(inner handler.EventHandler) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { inner.Create(ctx, e, gatheringQueue{q}) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { inner.Update(ctx, e, gatheringQueue{q}) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { inner.Delete(ctx, e, gatheringQueue{q}) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) {
			inner.Generic(ctx, e, gatheringQueue{q})
		},
	}
}
