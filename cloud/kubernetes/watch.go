// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
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
func begin(ctx context.Context, objects *cache.ListWatch) (*watchtools.RetryWatcher, error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	now, err := objects.ListWithContext(limited, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	list, err := meta.ListAccessor(now)
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), objects)
}

// watched returns what becomes events.
func (c *Cloud) watched() []*cache.ListWatch {
	of := func(resource, labels string) *cache.ListWatch {
		return cache.NewFilteredListWatchFromClient(c.streams.RESTClient(), resource, c.namespace, func(options *metav1.ListOptions) {
			// The list is only for its version. To find one that matches, the API server may have to read all.
			if options.Limit == 0 {
				options.LabelSelector = labels
			}
		})
	}
	return []*cache.ListWatch{
		of("pods", fmt.Sprintf("%s in (%s,%s)", kindLabel, kindInstance, kindHolder)),
		of("secrets", selector(kindPool, nil, nil)), of("services", selector(kindLoadBalancer, nil, nil)),
	}
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
			hub.Publish(tenant, event)
		}
	}
}

// eventOf returns the event for a change of an object.
func eventOf(object any) (cloud.Event, error) {
	switch object := object.(type) {
	case *corev1.Pod:
		if object.Labels[kindLabel] == kindHolder {
			one, err := specIn(object)
			return cloud.Event{Kind: cloud.EventLoadBalancer, Name: one.Name, Tags: one.Tags}, err
		}
		one, err := instanceOf(object)
		return cloud.Event{Kind: cloud.EventInstance, Name: one.Name, ID: one.ID, Pool: one.Pool, Tags: one.Tags}, err
	case *corev1.Secret:
		one, err := poolOf(object)
		if err != nil {
			return cloud.Event{}, err
		}
		return cloud.Event{Kind: cloud.EventPool, Name: one.Name, Tags: one.Tags}, nil
	case *corev1.Service:
		one, err := balancerOf(object)
		return cloud.Event{Kind: cloud.EventLoadBalancer, Name: one.Name, Tags: one.Tags}, err
	}
	return cloud.Event{}, fmt.Errorf("object of type %T in a watch", object)
}
