// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report writes what a controller found out about an object: its conditions and the rest of
// its status, and then one event per change. An event therefore always repeats a condition.
//
// Limits: the controller chooses the conditions, and which of their reasons are worth an event.
package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
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
	// Live bypasses the cache to read an object that somebody else has changed meanwhile, or that is
	// not in the cache yet as it was last written.
	Live client.Reader
	// Recorder emits the events.
	Recorder events.EventRecorder
	// Owned lists the conditions that only this controller sets.
	Owned []string
	// Kinds lists the reasons that are worth an event.
	Kinds Kinds

	// written holds the resource versions of the objects that were last written here and that the
	// cache may not have yet, by UID.
	written sync.Map
}

// Report collects the changes to one object until they are written.
type Report struct {
	reporter *Reporter
	object   Object
	// from is the object as the API server last returned it.
	from Object
}

// Begin sets the Paused condition. It returns no report if there is nothing to do now: the object
// or its Cluster, which may be nil, is paused, or the condition was just written, which wakes the
// controller again. Otherwise the report writes every change made to the object from now on. The object
// is at least as new as what was last written. If it turns out to be deleted or replaced meanwhile, there
// is no report either: what the caller has already found out about it no longer holds, and the event of
// that change wakes the controller.
func (r *Reporter) Begin(ctx context.Context, cluster *clusterv1.Cluster, object Object) (*Report, error) {
	uid, deleting := object.GetUID(), !object.GetDeletionTimestamp().IsZero()
	if err := r.catchUp(ctx, object); err != nil {
		return nil, client.IgnoreNotFound(err) // nothing is left to report on
	}
	if object.GetUID() != uid || object.GetDeletionTimestamp().IsZero() == deleting {
		return nil, nil
	}
	before, err := copyOf(object)
	if err != nil {
		return nil, err
	}
	isPaused, written, err := paused.EnsurePausedCondition(ctx, r.Client, cluster, object)
	if err != nil || isPaused || written {
		return nil, err
	}
	// A condition in which only observedGeneration changed is not written yet.
	return &Report{reporter: r, object: object, from: before}, nil
}

// catchUp reads the object from the API server if the cache is older than what was last written. Otherwise
// a condition that changed and changed back would equal the one in the old object, so it would not be
// written, and would stay wrong: a controller is not woken by its own write of the status.
func (r *Reporter) catchUp(ctx context.Context, object Object) error {
	written, known := r.written.Load(object.GetUID())
	if !known {
		return nil
	}
	version, _ := written.(string)
	if order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), version); err == nil && order < 0 {
		key := client.ObjectKeyFromObject(object)
		reflect.ValueOf(object).Elem().SetZero() // otherwise the answer would be decoded into the old object
		return r.Live.Get(ctx, key, object)
	}
	r.written.Delete(object.GetUID())
	return nil
}

// wrote records the version of an object that was just written.
func (r *Reporter) wrote(object Object) {
	r.written.Store(object.GetUID(), object.GetResourceVersion())
}

func copyOf(object Object) (Object, error) {
	copied, ok := object.DeepCopyObject().(Object)
	if !ok {
		return nil, fmt.Errorf("a copy of %T is %T", object, copied)
	}
	return copied, nil
}

// Change changes the object's metadata or spec and writes it immediately, for what must be stored
// before anything else happens. It fails if the object has changed since it was read. The status,
// which is written later, has the new generation.
func (r *Report) Change(ctx context.Context, change func(Object)) error {
	after, err := copyOf(r.from)
	if err != nil {
		return err
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
	r.object.SetManagedFields(after.GetManagedFields()) // a cache may leave them out
	r.from = after
	r.reporter.wrote(after)
	return nil
}

// Write writes all changes since the last call, the status with its conditions in one request, and
// then emits the events. Afterwards, the object also has the conditions that others have set. For
// an object that is being deleted and has no finalizers left, it writes no status and emits no
// events: the object is gone by then.
func (r *Report) Write(ctx context.Context) error {
	if !r.object.GetDeletionTimestamp().IsZero() && len(r.object.GetFinalizers()) == 0 {
		r.reporter.written.Delete(r.object.GetUID())
		return client.IgnoreNotFound(r.reporter.Client.Patch(ctx, r.object, client.MergeFrom(r.from)))
	}
	data, err := client.MergeFrom(r.from).Data(r.object)
	if err != nil {
		return err
	}
	changes := map[string]any{}
	if err := json.Unmarshal(data, &changes); err != nil {
		return err
	}
	status, _ := changes["status"].(map[string]any) // never null: the status always has the Paused condition
	delete(changes, "status")
	latest, err := copyOf(r.from)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		latest.SetConditions(nil) // otherwise the answer would be decoded into them
		if err := r.reporter.Client.Patch(ctx, latest, mergePatch(changes)); err != nil {
			return err
		}
		r.reporter.wrote(latest)
	}
	if err := r.writeStatus(ctx, latest, status); err != nil {
		return err
	}
	Record(r.reporter.Recorder, r.object, r.reporter.Kinds, r.from.GetConditions(), r.object.GetConditions())
	return r.adopt(latest)
}

// adopt makes the object as the API server has it now the one to compare with.
func (r *Report) adopt(latest Object) error {
	if latest.GetResourceVersion() != r.from.GetResourceVersion() {
		r.reporter.wrote(latest)
	}
	r.object.SetConditions(latest.GetConditions())
	r.object.SetResourceVersion(latest.GetResourceVersion())
	var err error
	r.from, err = copyOf(r.object)
	return err
}

// writeStatus writes what changed in the status. It keeps conditions that others have set
// meanwhile.
func (r *Report) writeStatus(ctx context.Context, latest Object, status map[string]any) error {
	if len(status) == 0 {
		return nil
	}
	changes := map[string]any{"status": status}
	changed, err := conditions.NewPatch(r.from, r.object)
	if err != nil {
		return err
	}
	if changed.IsZero() {
		latest.SetConditions(nil)
		return r.reporter.Client.Status().Patch(ctx, latest, mergePatch(changes))
	}
	owned := append([]string{clusterv1.PausedCondition}, r.reporter.Owned...)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := changed.Apply(latest, conditions.OwnedConditionTypes(owned)); err != nil {
			return err
		}
		status["conditions"] = latest.GetConditions()
		changes["metadata"] = map[string]any{"resourceVersion": latest.GetResourceVersion()}
		latest.SetConditions(nil)
		err := r.reporter.Client.Status().Patch(ctx, latest, mergePatch(changes))
		if apierrors.IsConflict(err) {
			if err := r.reporter.Live.Get(ctx, client.ObjectKeyFromObject(latest), latest); err != nil {
				return err
			}
		}
		return err
	})
}

// mergePatch is a merge patch of exactly these changes.
type mergePatch map[string]any

// Type implements client.Patch.
func (mergePatch) Type() types.PatchType { return types.MergePatchType }

// Data implements client.Patch.
func (p mergePatch) Data(client.Object) ([]byte, error) { return json.Marshal(map[string]any(p)) }

// IgnoreGone ignores the NotFound errors of a patch if the object is being deleted and has no
// finalizers. Such an object is gone, but the cache may show it once more.
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

// Ready returns the Ready condition derived from other conditions with positive polarity, the most
// important first. It is true if all of them are true. Otherwise it repeats the first one that is
// not, so Ready alone explains what is wrong.
func Ready(dependencies ...metav1.Condition) metav1.Condition {
	for _, c := range dependencies {
		if c.Status != metav1.ConditionTrue {
			return metav1.Condition{Type: clusterv1.ReadyCondition, Status: c.Status, Reason: c.Reason, Message: c.Message}
		}
	}
	return metav1.Condition{Type: clusterv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ReadyReason}
}
