// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestEventsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
		defer queue.ShutDown()
		gathering := gathered(&handler.EnqueueRequestForObject{})
		began := time.Now()
		machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}
		gathering.Create(t.Context(), event.CreateEvent{Object: machine}, queue)
		gathering.Update(t.Context(), event.UpdateEvent{ObjectOld: machine, ObjectNew: machine}, queue)
		gathering.Delete(t.Context(), event.DeleteEvent{Object: machine}, queue)
		gathering.Generic(t.Context(), event.GenericEvent{Object: machine}, queue)
		g.Expect(queue.Len()).To(BeZero(), "the request waits for others")
		request, _ := queue.Get()
		g.Expect(request.Name).To(Equal("b"))
		g.Expect(time.Since(began)).To(Equal(gatherTime))
		queue.Done(request)
		synctest.Wait()
		g.Expect(queue.Len()).To(BeZero(), "all events became one request")
	})
}
