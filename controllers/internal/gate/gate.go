// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gate says which objects a controller may look at, and which of their changes wake it.
//
// Limits: it does not know owners. What an object waits for before it can be reconciled is for its controller to say.
package gate

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/labels"
)

// Gate is what must hold before a controller changes an object.
type Gate struct {
	// Client reads and writes the object. It may cache.
	Client client.Client
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that the object must have; empty for any.
	WatchFilter string
	// Finalizer keeps the object until what it owns is gone.
	Finalizer string
}

// Read reads the object, and reports whether the controller may look at it: it exists, it belongs to this manager, and it
// is not being deleted without anything left to do. Predicates of watches check the label too, but a change of another
// object leads here as well.
func (g Gate) Read(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	if err := g.Client.Get(ctx, key, object); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	done := !object.GetDeletionTimestamp().IsZero() && !controllerutil.ContainsFinalizer(object, g.Finalizer)
	return !done && (g.WatchFilter == "" || labels.HasWatchLabel(object, g.WatchFilter)), nil
}

// Hold adds the finalizer, and reports whether it did. Then the controller is woken again; until the cache shows the finalizer,
// each further write would conflict with it.
func (g Gate) Hold(ctx context.Context, object client.Object) (added bool, err error) {
	added, err = finalizers.EnsureFinalizer(ctx, g.Client, object, g.Finalizer)
	if err != nil {
		return false, fmt.Errorf("adding the finalizer %s: %w", g.Finalizer, err)
	}
	return added, nil
}
