// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	// workers is how many pools are filled at the same time.
	workers = 4
	// retryBase and retryMax are the delays before what failed is tried again.
	retryBase = 200 * time.Millisecond
	retryMax  = 30 * time.Second
	// orphanAge is how old user data without a Pod must be to be deleted, and how often to look.
	orphanAge = 10 * time.Minute
)

// task is a piece of the work of Run. Pools and Nodes have names.
type task struct{ kind, name string }

// Kinds of tasks.
const (
	taskPool      = "pool"
	taskPools     = "pools"
	taskNode      = "node"
	taskDrains    = "drains"
	taskBalancers = "load balancers"
	taskSweep     = "sweep"
)

type taskQueue = workqueue.TypedRateLimitingInterface[task]

// retryDelays are the delays between calls that fail. A copy of it starts with the shortest.
var retryDelays = wait.Backoff{Duration: retryBase, Factor: 2, Jitter: 0.2, Steps: 9, Cap: retryMax}

// Run fills pools, replaces instances that they have lost, finishes drains, announces that outer nodes
// are drained, tends new load balancers, and deletes user data that nobody needs, until ctx ends. It
// may run more than once for a namespace: the API server decides then whose change counts.
func (c *Cloud) Run(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[task](retryBase, retryMax))
	running := sync.WaitGroup{}
	for range workers {
		running.Go(func() { c.work(ctx, queue) })
	}
	running.Go(func() { c.followNodes(ctx, queue) })
	c.follow(ctx, queue)
	queue.ShutDown()
	running.Wait()
}

// follow makes tasks of events until ctx ends.
func (c *Cloud) follow(ctx context.Context, queue taskQueue) {
	backoff := retryDelays
	for ctx.Err() == nil {
		events, err := c.Watch(ctx)
		if err == nil {
			began := time.Now()
			c.enqueue(queue, events)
			// One that ends at once, for example because it is forbidden, is no success.
			if time.Since(began) > retryMax {
				backoff = retryDelays
			}
		}
		if ctx.Err() == nil {
			delay := backoff.Step()
			klog.FromContext(ctx).Info("Watch of the outer cluster ended, restarting it", "namespace", c.namespace, "delay", delay.String(), "reason", reasonOf(err))
			pause(ctx, delay)
		}
	}
}

func reasonOf(err error) string {
	if err == nil {
		return "the stream was closed"
	}
	return err.Error()
}

func pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (c *Cloud) enqueue(queue taskQueue, events <-chan cloud.Event) {
	for event := range events {
		switch event.Kind {
		case cloud.EventSynced:
			// Events may have been missed.
			for _, kind := range []string{taskDrains, taskBalancers, taskSweep, taskPools} {
				queue.Add(task{kind: kind})
			}
		case cloud.EventPool:
			queue.Add(task{taskPool, event.Name})
		case cloud.EventInstance:
			queue.Add(task{kind: taskDrains})
			if c.starting.Load() {
				queue.Add(task{kind: taskBalancers})
			}
			if event.Pool != "" {
				queue.Add(task{taskPool, event.Pool})
			}
		case cloud.EventLoadBalancer:
			queue.Add(task{kind: taskDrains})
			queue.Add(task{kind: taskBalancers})
		}
	}
}

// enqueuePools makes a task of each pool.
func (c *Cloud) enqueuePools(ctx context.Context, queue taskQueue) error {
	secrets, err := c.secrets().List(ctx, metav1.ListOptions{LabelSelector: selector(kindPool, nil, nil)})
	if err != nil {
		return c.translate(err)
	}
	for i := range secrets.Items {
		p, err := poolOf(&secrets.Items[i])
		if err != nil {
			klog.FromContext(ctx).Error(err, "Pool cannot be read", "namespace", c.namespace)
			continue
		}
		queue.Add(task{taskPool, p.Name})
	}
	return nil
}

func (c *Cloud) work(ctx context.Context, queue taskQueue) {
	for {
		next, ended := queue.Get()
		if ended {
			return
		}
		err := c.do(ctx, queue, next)
		switch {
		case err == nil:
			queue.Forget(next)
		case ctx.Err() == nil:
			// A pool's problem is in the pool, and races are no problem.
			klog.FromContext(ctx).V(2).Info("Task failed, trying again", "namespace", c.namespace, "kind", next.kind, "name", next.name, "reason", err.Error())
			queue.AddRateLimited(next)
		}
		if next.kind == taskSweep && err == nil {
			queue.AddAfter(next, orphanAge)
		}
		queue.Done(next)
	}
}

func (c *Cloud) do(ctx context.Context, queue taskQueue, next task) error {
	switch next.kind {
	case taskPool:
		return c.fillPool(ctx, next.name)
	case taskPools:
		return c.enqueuePools(ctx, queue)
	case taskNode:
		return c.giveNotice(ctx, next.name)
	case taskDrains:
		return c.finishDrains(ctx)
	case taskBalancers:
		return c.tendLoadBalancers(ctx)
	default:
		return c.sweep(ctx, time.Now())
	}
}

// sweep deletes old user data whose Pod was never created, and gives the rest of what has no owner to
// its Pod.
func (c *Cloud) sweep(ctx context.Context, now time.Time) error {
	secrets, err := c.secrets().List(ctx, metav1.ListOptions{LabelSelector: selector(kindUserData, nil, nil)})
	if err != nil {
		return c.translate(err)
	}
	var problems []error
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		// A time that cannot be read is long ago.
		stored, _ := time.Parse(time.RFC3339, secret.Annotations[storedAnnotation])
		if len(secret.OwnerReferences) > 0 || now.Sub(stored) < orphanAge {
			continue
		}
		pod, err := c.pods().Get(ctx, secret.Name, metav1.GetOptions{})
		switch {
		case isGone(err):
			err = c.secrets().Delete(ctx, secret.Name, *metav1.NewRVDeletionPrecondition(secret.ResourceVersion))
		case err == nil:
			err = c.ownUserData(ctx, pod)
		}
		if err != nil && !isGone(err) {
			problems = append(problems, c.translate(err))
		}
	}
	return errors.Join(problems...)
}
