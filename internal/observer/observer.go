// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observer keeps copies of a cluster's objects for programs that follow its progress, and
// signals when one of them has changed. Limits: a signal does not say what has changed.
package observer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options of an Observer.
type Options struct {
	// Scheme contains the observed kinds.
	Scheme *runtime.Scheme
	// Namespace of the objects; all namespaces if empty.
	Namespace string
	// Changes of another observer that also receive this one's; nil for a new channel.
	Changes chan struct{}
}

// Observer keeps a copy of objects up to date by watches.
type Observer struct {
	client.Reader
	// Changes receives a value when something may have changed since the last receive.
	Changes chan struct{}
}

// retryPeriod is how long to wait before asking an API server that did not answer again.
const retryPeriod = 500 * time.Millisecond

// Start starts to watch the kinds of the objects. It waits for an API server that does not answer,
// such as one that has just started on a busy machine. It ends with ctx.
func Start(ctx context.Context, config *rest.Config, options Options, objects ...client.Object) (*Observer, error) {
	watched := cache.Options{Scheme: options.Scheme, DefaultTransform: cache.TransformStripManagedFields()}
	if options.Namespace != "" {
		watched.DefaultNamespaces = map[string]cache.Config{options.Namespace: {}}
	}
	informers, err := cache.New(config, watched)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	o := &Observer{Reader: informers, Changes: options.Changes}
	if o.Changes == nil {
		o.Changes = make(chan struct{}, 1)
	}
	go func() { _ = informers.Start(ctx) }() // its only error is the end of ctx
	if !informers.WaitForCacheSync(ctx) {    // before it has started there is nothing to sync
		return nil, context.Cause(ctx)
	}
	for _, object := range objects {
		informer, err := informer(ctx, informers, object)
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(o.handler()); err != nil {
			return nil, fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return o, nil
}

// informer returns the informer of an object's kind. If ctx ends before the API server has answered,
// the error has the reason of both.
func informer(ctx context.Context, informers cache.Cache, object client.Object) (found cache.Informer, err error) {
	ended := wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		found, err = informers.GetInformer(ctx, object)
		var silent *url.Error
		if errors.As(err, &silent) {
			return false, nil
		}
		return true, err
	})
	if ended != nil && ctx.Err() != nil && err != nil {
		return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return found, ended
}

func (o *Observer) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { o.signal() },
		UpdateFunc: func(any, any) { o.signal() },
		DeleteFunc: func(any) { o.signal() },
	}
}

func (o *Observer) signal() {
	select {
	case o.Changes <- struct{}{}:
	default: // a signal is already pending
	}
}
