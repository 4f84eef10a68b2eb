// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

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

// CreatedOrDeleted passes only create and delete events, for a controller that counts objects.
func CreatedOrDeleted() predicate.Funcs {
	return predicate.Funcs{
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// Deleted passes only delete events.
func Deleted() predicate.Funcs {
	passed := CreatedOrDeleted()
	passed.CreateFunc = func(event.CreateEvent) bool { return false }
	return passed
}
