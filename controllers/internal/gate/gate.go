// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gate decides which objects a controller may reconcile, and which of their changes wake
// it.
//
// Limits: it knows nothing about owners. Each controller decides what an object must wait for
// before it can be reconciled.
package gate

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/labels"
)

// Gate checks what must hold before a controller changes an object.
type Gate struct {
	// Client reads and writes the object. It may cache.
	Client client.Client
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that the object must
	// have; empty matches every object.
	WatchFilter string
	// Finalizer keeps the object until what it owns is gone.
	Finalizer string
}

// Read reads the object and reports whether the controller may reconcile it: the object exists,
// belongs to this manager, and still has the finalizer if it is being deleted. Predicates of
// watches check the label too, but changes of other objects also trigger reconciles.
func (g Gate) Read(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	if err := g.Client.Get(ctx, key, object); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	done := !object.GetDeletionTimestamp().IsZero() && !controllerutil.ContainsFinalizer(object, g.Finalizer)
	return !done && (g.WatchFilter == "" || labels.HasWatchLabel(object, g.WatchFilter)), nil
}

// Hold adds the finalizer if it is missing, and reports whether it did. The write wakes the
// controller again; until the cache shows the finalizer, any further write would conflict.
func (g Gate) Hold(ctx context.Context, object client.Object) (added bool, err error) {
	added, err = finalizers.EnsureFinalizer(ctx, g.Client, object, g.Finalizer)
	if err != nil {
		return false, fmt.Errorf("adding the finalizer %s: %w", g.Finalizer, err)
	}
	return added, nil
}
