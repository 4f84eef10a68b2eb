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
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
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

// BesidesStatus passes every event except updates that change only the status of an object, unless
// its Paused condition changes. Otherwise a controller that writes a status would wake itself with
// each write, and ask the cloud again for what it just learned. A deletion changes the generation,
// so it passes. A resync, which changes nothing, passes too. Use it only for kinds whose generation
// the API server maintains.
func BesidesStatus() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() || differ(e.ObjectOld, e.ObjectNew)
	}}
}

func differ(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers()) ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) ||
		PauseChanged(before, after)
}

// PauseChanged reports whether the status of the Paused condition changed.
func PauseChanged(before, after client.Object) bool {
	return pausedStatus(before) != pausedStatus(after)
}

func pausedStatus(object client.Object) metav1.ConditionStatus {
	if getter, ok := object.(conditions.Getter); ok {
		if condition := conditions.Get(getter, clusterv1.PausedCondition); condition != nil {
			return condition.Status
		}
	}
	return ""
}

// Updated passes the updates for which changed holds, and every event that is not an update.
func Updated[T client.Object](changed func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(T)
		after, okAfter := e.ObjectNew.(T)
		return okBefore && okAfter && changed(before, after)
	}}
}

// CreatedOrDeleted passes only create and delete events, for a controller that counts objects.
func CreatedOrDeleted() predicate.Funcs {
	return predicate.Funcs{
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// Deleted passes only delete events. An object that is being deleted waits while its Cluster is paused,
// and must hear when that Cluster is gone.
func Deleted() predicate.Funcs {
	passed := CreatedOrDeleted()
	passed.CreateFunc = func(event.CreateEvent) bool { return false }
	return passed
}
