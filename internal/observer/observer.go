// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observer keeps copies of a cluster's objects for programs that follow its progress, and
// signals when one of them has changed. Limits: a signal does not say what has changed.
package observer

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
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

// Start starts to watch the kinds of the objects. It ends with ctx.
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
		informer, err := informers.GetInformer(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(o.handler()); err != nil {
			return nil, fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return o, nil
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
