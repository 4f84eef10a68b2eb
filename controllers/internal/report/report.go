// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report writes what a controller found out about an object: its conditions and the rest of its status, and then
// one event for each thing that changed. So what an event says is always what a condition says.
//
// Limits: what the conditions are, and which of their reasons are worth an event, is for the controller to say.
package report

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/paused"
)

// Object is what a controller reports on.
type Object interface {
	client.Object
	conditions.Setter
}

// Reporter writes the objects of one kind.
type Reporter struct {
	// Client writes the objects.
	Client client.Client
	// Live reads past the cache what Change has written. It is needed for that only.
	Live client.Reader
	// Recorder takes the events.
	Recorder events.EventRecorder
	// Owned are the conditions that nobody else sets.
	Owned []string
	// Kinds are the reasons that are worth an event.
	Kinds Kinds
}

// Report is what is going to be written about one object.
type Report struct {
	reporter *Reporter
	object   Object
	// from is the object as the API server has it.
	from   Object
	before []metav1.Condition
	// changed says that from was written by Change.
	changed bool
}

// Begin sets the Paused condition, and returns no report where there is nothing to do now: the object or its Cluster, which may be
// nil, is paused, or the condition was just written, which wakes the controller again. Otherwise the report writes whatever changes
// in the object from now on.
func (r *Reporter) Begin(ctx context.Context, cluster *clusterv1.Cluster, object Object) (*Report, error) {
	before, ok := object.DeepCopyObject().(Object)
	if !ok {
		return nil, fmt.Errorf("a copy of %T is %T", object, before)
	}
	isPaused, written, err := paused.EnsurePausedCondition(ctx, r.Client, cluster, object)
	if err != nil || isPaused || written {
		return nil, err
	}
	// A condition with nothing but a new observedGeneration is not written yet.
	return &Report{reporter: r, object: object, from: before, before: before.GetConditions()}, nil
}

// Change changes the object's metadata or spec and writes that at once, for what must be there before anything else happens.
// It fails if the object was changed since it was read. The status, which is written later, names the new generation.
func (r *Report) Change(ctx context.Context, change func(Object)) error {
	after, ok := r.from.DeepCopyObject().(Object)
	if !ok {
		return fmt.Errorf("a copy of %T is %T", r.from, after)
	}
	change(after)
	if equality.Semantic.DeepEqual(r.from, after) {
		return nil
	}
	if err := r.reporter.Client.Patch(ctx, after, client.MergeFromWithOptions(r.from, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	change(r.object)
	r.object.SetResourceVersion(after.GetResourceVersion())
	r.object.SetGeneration(after.GetGeneration())
	r.object.SetManagedFields(after.GetManagedFields()) // which a cache may leave out
	r.from, r.changed = after, true
	return nil
}

// afterChange reads past the cache, which may not show yet what was just written: each attempt to write on would conflict with it.
type afterChange struct {
	client.Client

	live client.Reader
}

// Get implements client.Reader.
func (c afterChange) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.live.Get(ctx, key, object, options...)
}

// Write writes what has changed and then records the events. Of an object that nothing holds any more it writes no status, and
// records nothing: the object is gone then.
func (r *Report) Write(ctx context.Context) error {
	if !r.object.GetDeletionTimestamp().IsZero() && len(r.object.GetFinalizers()) == 0 {
		return client.IgnoreNotFound(r.reporter.Client.Patch(ctx, r.object, client.MergeFrom(r.from)))
	}
	writer := r.reporter.Client
	if r.changed {
		writer = afterChange{Client: writer, live: r.reporter.Live}
	}
	helper, err := patch.NewHelper(r.from, writer)
	if err != nil {
		return err
	}
	owned := append([]string{clusterv1.PausedCondition}, r.reporter.Owned...)
	if err := helper.Patch(ctx, r.object, patch.WithOwnedConditions{Conditions: owned}); err != nil {
		return err
	}
	Record(r.reporter.Recorder, r.object, r.reporter.Kinds, r.before, r.object.GetConditions())
	return nil
}

// IgnoreGone drops the errors of a patch that say that an object without finalizers, which is being deleted, is gone. The
// cache may show it once more.
func IgnoreGone(err error, object client.Object) error {
	if object.GetDeletionTimestamp().IsZero() || len(object.GetFinalizers()) > 0 {
		return err
	}
	var joined kerrors.Aggregate
	if errors.As(err, &joined) && kerrors.FilterOut(joined, apierrors.IsNotFound) == nil {
		return nil
	}
	return client.IgnoreNotFound(err)
}
