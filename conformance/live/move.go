// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const (
	// blockMove is the annotation of objects for which clusterctl move waits after the pause, if they
	// had it before.
	blockMove = "clusterctl.cluster.x-k8s.io/block-move"
	// blocked is how long it waits.
	blocked = 2 * time.Minute
)

// blocking returns the objects that block a move, by their UIDs.
func (v *view) blocking() map[types.UID]string {
	linked, found := v.linked(), map[types.UID]string{}
	for i := range v.namespaced {
		one := &v.namespaced[i]
		if _, blocks := one.Annotations[blockMove]; blocks && linked[one.UID] {
			found[one.UID] = one.Kind + " " + one.Name
		}
	}
	return found
}

// awaitUnblocked waits until none of the objects blocks a move any more.
func (s *story) awaitUnblocked(ctx context.Context, objects map[types.UID]string) error {
	if len(objects) == 0 {
		return nil
	}
	return until(ctx, blocked, func() error {
		v, err := s.read(ctx)
		if err != nil {
			return err
		}
		return v.unblocked(objects)
	})
}

// unblocked returns an error if one of the objects still blocks a move.
func (v *view) unblocked(objects map[types.UID]string) error {
	still := v.blocking()
	for uid, name := range objects {
		if _, blocks := still[uid]; blocks {
			return fmt.Errorf("%s still has the annotation %s, although the Cluster is paused", name, blockMove)
		}
	}
	return nil
}

// move does what clusterctl move does, with the same management cluster as source and target: it
// pauses the cluster, deletes all objects that belong to it, and creates them again, without their
// status, and with owner references to the new objects.
func (s *story) move(ctx context.Context) error {
	const rule = "clusterctl/move"
	before := s.now
	cluster := before.cluster.DeepCopy()
	sampled, err := s.read(ctx)
	if err != nil {
		return err
	}
	if err := s.change(ctx, cluster, func() { cluster.Spec.Paused = ptr.To(true) }); err != nil {
		return err
	}
	if err := s.awaitUnblocked(ctx, sampled.blocking()); err != nil {
		s.record(rule, "", "Cluster "+clusterName, err)
		return err
	}
	objects, err := s.movedObjects(ctx)
	if err != nil {
		return err
	}
	s.log("          moving %d objects", len(objects))
	if err := s.replace(context.WithoutCancel(ctx), objects); err != nil {
		return err
	}
	if err := s.change(ctx, cluster, func() { cluster.Spec.Paused = nil }); err != nil {
		return err
	}
	if err := s.settle(ctx, nil); err != nil {
		s.record(rule, "", "Cluster "+clusterName, fmt.Errorf("after the move: %w", err))
		return err
	}
	s.record(rule, "", "Cluster "+clusterName, sameCluster(before, s.now))
	for _, role := range roles {
		for _, o := range s.now.objects(role) {
			s.record(role+"/lost-status", o.contract, o.GetKind(), before.rebuilt(o))
		}
	}
	return nil
}

// movedObjects returns the objects that clusterctl move takes along, owners first.
func (s *story) movedObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	v, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	linked := v.linked()
	byUID := map[types.UID]*unstructured.Unstructured{}
	for i := range v.namespaced {
		one := &v.namespaced[i]
		if !linked[one.UID] {
			continue
		}
		whole := &unstructured.Unstructured{}
		whole.SetGroupVersionKind(one.GroupVersionKind())
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(one), whole); client.IgnoreNotFound(err) != nil {
			return nil, err
		} else if err == nil {
			byUID[whole.GetUID()] = whole
		}
	}
	return ordered(byUID), nil
}

// ordered returns objects after their owners.
func ordered(byUID map[types.UID]*unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	done := map[types.UID]bool{}
	var visit func(object *unstructured.Unstructured)
	visit = func(object *unstructured.Unstructured) {
		if done[object.GetUID()] {
			return
		}
		done[object.GetUID()] = true
		for _, reference := range object.GetOwnerReferences() {
			if owner := byUID[reference.UID]; owner != nil {
				visit(owner)
			}
		}
		all = append(all, object)
	}
	for _, uid := range slices.Sorted(maps.Keys(byUID)) {
		visit(byUID[uid])
	}
	return all
}

// replace deletes the objects and creates them again, whatever happens: without them, nobody would delete
// the machines that they stand for.
func (s *story) replace(ctx context.Context, objects []*unstructured.Unstructured) error {
	err := s.leave(ctx, objects)
	if missing := s.arrive(ctx, objects); missing != nil {
		err = errors.Join(err, fmt.Errorf("create what was moved: %w", missing))
	}
	return err
}

// deleteForMove is the annotation that clusterctl sets before it deletes, which webhooks may look at.
const deleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"

// leave deletes the objects without asking anybody, the owners last. Like clusterctl, it removes
// finalizers only then: until an object is being deleted, its controller may add them again.
func (s *story) leave(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range slices.Backward(objects) {
		one := object.DeepCopy()
		err := client.IgnoreNotFound(s.change(ctx, one, func() {
			annotations := one.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[deleteForMove] = ""
			one.SetAnnotations(annotations)
		}))
		if err == nil {
			err = client.IgnoreNotFound(s.Client.Delete(ctx, one))
		}
		if err == nil {
			err = client.IgnoreNotFound(s.change(ctx, one, func() { one.SetFinalizers(nil) }))
		}
		if err != nil {
			return fmt.Errorf("delete %s %s: %w", one.GetKind(), one.GetName(), err)
		}
	}
	return until(ctx, soon, func() error {
		for _, object := range objects {
			one := object.DeepCopy()
			if err := s.Client.Get(ctx, client.ObjectKeyFromObject(one), one); client.IgnoreNotFound(err) != nil {
				return err
			} else if err == nil {
				return fmt.Errorf("%s %s still exists, with the finalizers %v: somebody acts although the Cluster is paused", one.GetKind(), one.GetName(), one.GetFinalizers())
			}
		}
		return nil
	})
}

// arrive creates the objects again, unless they are still there.
func (s *story) arrive(ctx context.Context, objects []*unstructured.Unstructured) error {
	created := map[types.UID]types.UID{}
	var errs []error
	for _, object := range objects {
		one := copied(object, created)
		err := s.createOne(ctx, one)
		if apierrors.IsAlreadyExists(err) {
			err = s.Client.Get(ctx, client.ObjectKeyFromObject(one), one)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", one.GetKind(), one.GetName(), err))
			continue
		}
		created[object.GetUID()] = one.GetUID()
	}
	return errors.Join(errs...)
}

// copied returns what clusterctl creates of an object: all but its status and what the API server
// sets, with references to the new owners.
func copied(object *unstructured.Unstructured, created map[types.UID]types.UID) *unstructured.Unstructured {
	one := object.DeepCopy()
	delete(one.Object, "status")
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(one.Object, "metadata", field)
	}
	var owners []metav1.OwnerReference
	for _, reference := range one.GetOwnerReferences() {
		if uid, ok := created[reference.UID]; ok {
			reference.UID = uid
			owners = append(owners, reference)
		}
	}
	one.SetOwnerReferences(owners)
	return one
}

// sameCluster returns an error unless a cluster has the same Machines and Nodes as before.
func sameCluster(before, after *view) error {
	if was, is := names(before.machines), names(after.machines); !slices.Equal(was, is) {
		return fmt.Errorf("the Machines were %v before the move, and are %v", was, is)
	}
	if err := cmp.Or(before.unknownNodes(), after.unknownNodes()); err != nil {
		return err
	}
	for name, node := range before.nodes {
		if now, ok := after.nodes[name]; !ok || now.UID != node.UID {
			return fmt.Errorf("the Node %s was replaced in the course of the move", name)
		}
	}
	if len(before.nodes) != len(after.nodes) {
		return fmt.Errorf("the cluster had %d Nodes before the move, and has %d", len(before.nodes), len(after.nodes))
	}
	return nil
}

// rebuilt returns an error unless an object reports what it did before the move.
func (v *view) rebuilt(o *object) error {
	for _, old := range v.objects(o.role) {
		if old.GetName() != o.GetName() || old.GetKind() != o.GetKind() {
			continue
		}
		if err := fields.Rebuilt(old.Unstructured, o.Unstructured); err != nil {
			return fmt.Errorf("after the move: %w", err)
		}
	}
	return nil
}
