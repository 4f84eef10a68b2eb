// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudevents

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

// start starts an Events with one source, and returns the source's queue.
func start(t *testing.T, watcher Watcher, list ListFunc) queue {
	t.Helper()
	return startEvents(t, newEvents(watcher), list)
}

func newEvents(watcher Watcher) *Events {
	return New(watcher, nil, wait.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 1})
}

func startEvents(t *testing.T, events *Events, list ListFunc) queue {
	t.Helper()
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(context.Background())
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	byName := func(event cloud.Event) []reconcile.Request { return []reconcile.Request{request(event.Name)} }
	g.Expect(events.Source(byName, list).Start(ctx, q)).To(Succeed())
	done := make(chan error, 1)
	go func() { done <- events.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		g.Expect(<-done).To(Succeed())
		g.Eventually(events.current).Should(BeEmpty(), "the source ends with its controller")
	})
	return q
}

func next(q queue) func() string {
	return func() string {
		if q.Len() == 0 {
			return ""
		}
		item, _ := q.Get()
		q.Done(item)
		return item.Name
	}
}

func TestEvents(t *testing.T) {
	g := NewWithT(t)
	c := fake.New(fake.Options{})
	c.Fail(fake.CallWatch, &cloud.UnavailableError{Message: "starting"})
	watches := func() int { return c.Calls(fake.CallWatch) }
	var lists atomic.Int32
	q := start(t, c, func(context.Context, func(client.Object) bool) ([]reconcile.Request, error) {
		if lists.Add(1) == 2 {
			return nil, errors.New("no cache")
		}
		return []reconcile.Request{request("all")}, nil
	})
	g.Eventually(watches).Should(BeNumerically(">=", 2))
	c.Heal(fake.CallWatch)
	g.Eventually(next(q)).Should(Equal("all"), "the watch starts in spite of failures")

	_, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "lb", Port: 1, Selector: cloud.Tags{"a": "b"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(next(q)).Should(Equal("lb"), "the event is mapped")

	before := watches()
	c.DropWatches()
	g.Eventually(watches).Should(Equal(before+1), "the watch starts again")
	g.Eventually(lists.Load).Should(BeEquivalentTo(2), "listing fails")
	c.DropWatches()
	g.Eventually(next(q)).Should(Equal("all"), "all objects are looked at after each start")
}

// ending is a cloud whose watches end as soon as they have synced.
type ending struct{ watches atomic.Int32 }

func (e *ending) Watch(context.Context) (<-chan cloud.Event, error) {
	e.watches.Add(1)
	events := make(chan cloud.Event, 1)
	events <- cloud.Event{Kind: cloud.EventSynced}
	close(events)
	return events, nil
}

// All objects are looked at after each start of a watch.
func TestAWatchThatEndsAtOnceIsRestartedMoreAndMoreSlowly(t *testing.T) {
	g := NewWithT(t)
	c := &ending{}
	events := New(c, nil, wait.Backoff{Duration: time.Millisecond, Factor: 2, Steps: 20, Cap: time.Hour})
	startEvents(t, events, func(context.Context, func(client.Object) bool) ([]reconcile.Request, error) { return nil, nil })
	g.Eventually(c.watches.Load).Should(BeNumerically(">", 2))
	g.Consistently(c.watches.Load, time.Second).Should(BeNumerically("<", 16), "without a backoff, there are thousands")
}

func TestOtherCloudsAreFollowed(t *testing.T) {
	g := NewWithT(t)
	first, before, after := fake.New(fake.Options{}), fake.New(fake.Options{}), fake.New(fake.Options{})
	events := newEvents(first)
	stopBefore := events.Follow(before, nil)
	q := startEvents(t, events, func(context.Context, func(client.Object) bool) ([]reconcile.Request, error) { return nil, nil })
	stopAfter := events.Follow(after, nil)
	for name, c := range map[string]*fake.Cloud{"first": first, "before": before, "after": after} {
		g.Eventually(func() int { return c.Calls(fake.CallWatch) }).Should(Equal(1), name)
		_, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: name, Port: 1, Selector: cloud.Tags{"a": "b"}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Eventually(next(q)).Should(Equal(name))
	}
	stopBefore()
	stopAfter()
	for name, c := range map[string]*fake.Cloud{"before": before, "after": after} {
		g.Eventually(c.Watches).Should(BeZero(), name)
	}
	g.Expect(first.Watches()).To(Equal(1))
}

// A tenant whose watch restarts must not wake the objects of all tenants.
func TestOnlyObjectsOfTheCloudAreEnqueuedWhenItsWatchBegins(t *testing.T) {
	named := func(name string) Scope {
		return func(context.Context) (func(client.Object) bool, error) {
			return func(object client.Object) bool { return object.GetName() == name }, nil
		}
	}
	unknown := func(context.Context) (func(client.Object) bool, error) { return nil, errors.New("no cache") }
	reader := clientfake.NewClientBuilder().WithObjects(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}},
	).Build()
	for name, test := range map[string]struct {
		scope Scope
		want  []string
	}{
		"one tenant's": {named("a"), []string{"a"}}, "nobody's": {named("c"), nil},
		"all": {nil, []string{"a", "b"}}, "all while it is not known whose they are": {unknown, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := fake.New(fake.Options{})
			events := New(c, named("none"), wait.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 1})
			events.Follow(c, test.scope)
			q := startEvents(t, events, ListAll(reader, &corev1.ConfigMapList{}))
			g.Eventually(c.Watches).Should(Equal(2))
			for range test.want {
				g.Eventually(next(q)).Should(BeElementOf(test.want))
			}
			_, err := c.EnsureLoadBalancer(t.Context(), cloud.LoadBalancerSpec{Name: "last", Port: 1, Selector: cloud.Tags{"a": "b"}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Eventually(next(q)).Should(Equal("last"), "nothing else was enqueued before")
		})
	}
}

func TestDelayIsWhatTheCloudAsksFor(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want time.Duration
	}{
		"nothing asked for":       {&cloud.UnavailableError{Message: "down"}, time.Second},
		"longer than the backoff": {fmt.Errorf("watch: %w", &cloud.ThrottledError{RetryAfter: time.Minute}), time.Minute},
		"shorter":                 {&cloud.ThrottledError{RetryAfter: time.Millisecond}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(delayAfter(test.err, time.Second)).To(Equal(test.want))
		})
	}
}

func TestListAll(t *testing.T) {
	g := NewWithT(t)
	reader := clientfake.NewClientBuilder().WithObjects(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}},
	).Build()
	requests, err := ListAll(reader, &corev1.ConfigMapList{})(t.Context(), func(object client.Object) bool { return object.GetName() != "c" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(requests).To(ConsistOf(request("a"), request("b")))
}
