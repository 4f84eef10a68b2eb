// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inventory holds the objects of each add-on that are or may be in a workload cluster. It is kept
// there, in a ConfigMap, so that it stays with the cluster if the Cluster is moved.
type inventory struct {
	objects map[string]sets.Set[identity]
	// stored is the ConfigMap as it was read or written last. It has no resource version if there
	// was none.
	stored *corev1.ConfigMap
}

var inventoryKey = client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "foo-addons"}

func readInventory(ctx context.Context, from client.Reader) (inventory, error) {
	stored := &corev1.ConfigMap{}
	err := from.Get(ctx, inventoryKey, stored)
	if apierrors.IsNotFound(err) {
		stored, err = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inventoryKey.Namespace, Name: inventoryKey.Name}}, nil
	}
	if err != nil {
		return inventory{}, fmt.Errorf("reading the inventory: %w", err)
	}
	known := inventory{objects: map[string]sets.Set[identity]{}, stored: stored}
	for addon, text := range stored.Data {
		known.objects[addon] = sets.New[identity]()
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(words) == 3 {
				known.objects[addon].Insert(identity{kind: schema.ParseGroupKind(words[0]), namespace: words[1], name: words[2]})
			}
		}
	}
	return known, nil
}

// change adds objects of an add-on to the inventory and removes others. It fails if somebody else has
// written the inventory since it was read.
func (i *inventory) change(ctx context.Context, to client.Client, addon string, added, removed sets.Set[identity]) error {
	wanted := i.objects[addon].Union(added).Difference(removed)
	if wanted.Equal(i.objects[addon]) {
		return nil
	}
	i.objects[addon] = wanted
	i.stored.Data = map[string]string{}
	for addon, objects := range i.objects {
		lines := make([]string, 0, len(objects))
		for one := range objects {
			lines = append(lines, fmt.Sprintln(one.kind.String(), one.namespace, one.name))
		}
		slices.Sort(lines)
		i.stored.Data[addon] = strings.Join(lines, "")
	}
	write := func() error { return to.Update(ctx, i.stored, fieldOwner) }
	if i.stored.ResourceVersion == "" {
		write = func() error { return to.Create(ctx, i.stored, fieldOwner) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	return nil
}

// prune deletes objects of an add-on, last those that others depend on. It keeps those that no
// longer have the label of the add-on, and those that were applied under another name: a manifest may
// give a namespace to an object that has none, or name its kind in another group.
func prune(ctx context.Context, from client.Client, addon string, objects sets.Set[identity], applied sets.Set[types.UID]) error {
	for _, one := range slices.SortedFunc(maps.Keys(objects), func(a, b identity) int { return compareKinds(b.kind, a.kind) }) {
		if err := pruneOne(ctx, from, addon, one, applied); err != nil {
			return fmt.Errorf("deleting %s, which the add-on no longer contains: %w", one, err)
		}
	}
	return nil
}

func pruneOne(ctx context.Context, from client.Client, addon string, one identity, applied sets.Set[types.UID]) error {
	mapping, err := from.RESTMapper().RESTMapping(one.kind)
	if meta.IsNoMatchError(err) {
		return nil // It was deleted with its kind.
	}
	if err != nil {
		return err
	}
	key := client.ObjectKey{Name: one.name}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		key.Namespace = one.namespace
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := from.Get(ctx, key, object); err != nil || object.Labels[addonLabel] != addon || applied.Has(object.UID) {
		return client.IgnoreNotFound(err)
	}
	err = from.Delete(ctx, object, client.Preconditions{UID: &object.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsConflict(err) {
		return nil // Somebody has replaced it.
	}
	return client.IgnoreNotFound(err)
}
