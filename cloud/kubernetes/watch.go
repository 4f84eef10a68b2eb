// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/events"
)

// tenant is the only tenant of a namespace.
const tenant = ""

// stream is a kind of objects that are watched.
type stream struct {
	list  func(context.Context, metav1.ListOptions) (metav1.ListInterface, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// Watch implements cloud.Cloud. The API server ends every watch after some minutes; these begin again
// where they ended. The channel is closed when one of them cannot.
func (c *Cloud) Watch(ctx context.Context) (<-chan cloud.Event, error) {
	ctx, end := context.WithCancel(ctx)
	hub := events.NewHub()
	var watches []*watchtools.RetryWatcher
	// While the API server cannot be reached, a watch reports every attempt, and so do all calls.
	quiet := klog.NewContext(ctx, logr.Discard())
	for _, each := range c.watched() {
		w, err := begin(quiet, each)
		if err != nil {
			end()
			return nil, c.translate(err)
		}
		watches = append(watches, w)
	}
	if err := c.verify(ctx); err != nil {
		end()
		return nil, err
	}
	delivered, ended := hub.Watch(ctx, tenant), make(chan struct{}, len(watches))
	for _, w := range watches {
		go func() {
			publish(ctx, w, hub)
			ended <- struct{}{}
		}()
	}
	go func() {
		<-ended
		end()
	}()
	return delivered, nil
}

// begin begins to watch from now on.
func begin(ctx context.Context, s stream) (*watchtools.RetryWatcher, error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	now, err := s.list(limited, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, now.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: s.watch})
}

// watched returns what becomes events.
func (c *Cloud) watched() []stream {
	labelled := func(options metav1.ListOptions, kind string) metav1.ListOptions {
		options.LabelSelector = selector(kind, nil, nil)
		return options
	}
	pods, secrets, services := c.streams.Pods(c.namespace), c.streams.Secrets(c.namespace), c.streams.Services(c.namespace)
	return []stream{{
		list: func(ctx context.Context, options metav1.ListOptions) (metav1.ListInterface, error) {
			return pods.List(ctx, options)
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = fmt.Sprintf("%s in (%s,%s)", kindLabel, kindInstance, kindHolder)
			return pods.Watch(ctx, options)
		},
	}, {
		list: func(ctx context.Context, options metav1.ListOptions) (metav1.ListInterface, error) {
			return secrets.List(ctx, options)
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return secrets.Watch(ctx, labelled(options, kindPool))
		},
	}, {
		list: func(ctx context.Context, options metav1.ListOptions) (metav1.ListInterface, error) {
			return services.List(ctx, options)
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return services.Watch(ctx, labelled(options, kindLoadBalancer))
		},
	}}
}

// publish publishes changes until the watch cannot go on.
func publish(ctx context.Context, w *watchtools.RetryWatcher, hub *events.Hub) {
	for {
		select {
		case <-ctx.Done():
			return
		case change, open := <-w.ResultChan():
			if !open || change.Type == watch.Error {
				return
			}
			event, err := eventOf(change.Object)
			if err != nil {
				klog.FromContext(ctx).Error(err, "Object of the outer cluster cannot be read")
				continue
			}
			if event != nil {
				hub.Publish(tenant, *event)
			}
		}
	}
}

// eventOf returns the event for a change of an object; nil for what is no change.
func eventOf(object any) (*cloud.Event, error) {
	switch object := object.(type) {
	case *corev1.Pod:
		if object.Labels[kindLabel] == kindHolder {
			one, err := specIn(object)
			return &cloud.Event{Kind: cloud.EventLoadBalancer, Name: one.Name, Tags: one.Tags}, err
		}
		one, err := instanceOf(object)
		return &cloud.Event{Kind: cloud.EventInstance, Name: one.Name, ID: one.ID, Pool: one.Pool, Tags: one.Tags}, err
	case *corev1.Secret:
		one, err := poolOf(object)
		if err != nil {
			return nil, err
		}
		return &cloud.Event{Kind: cloud.EventPool, Name: one.Name, Tags: one.Tags}, nil
	case *corev1.Service:
		one, err := balancerOf(object)
		return &cloud.Event{Kind: cloud.EventLoadBalancer, Name: one.Name, Tags: one.Tags}, err
	}
	return nil, fmt.Errorf("object of type %T in a watch", object)
}
