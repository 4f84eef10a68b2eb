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
	"k8s.io/apimachinery/pkg/util/sets"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inventory holds the objects of each add-on that are or may be in a workload cluster. It is kept
// there, in a ConfigMap, so that it stays with the cluster if the Cluster is moved.
type inventory map[string]sets.Set[identity]

var inventoryKey = client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "foo-addons"}

func readInventory(ctx context.Context, from client.Reader) (inventory, error) {
	stored := &corev1.ConfigMap{}
	if err := from.Get(ctx, inventoryKey, stored); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	known := inventory{}
	for addon, text := range stored.Data {
		known[addon] = sets.New[identity]()
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(words) == 3 {
				known[addon].Insert(identity{kind: schema.ParseGroupKind(words[0]), namespace: words[1], name: words[2]})
			}
		}
	}
	return known, nil
}

// with returns the inventory with other objects of an add-on.
func (i inventory) with(addon string, objects sets.Set[identity]) inventory {
	changed := maps.Clone(i)
	changed[addon] = objects
	return changed
}

// write stores the inventory.
func (i inventory) write(ctx context.Context, to client.Client) error {
	data := map[string]string{}
	for addon, objects := range i {
		lines := make([]string, 0, len(objects))
		for one := range objects {
			lines = append(lines, fmt.Sprintln(one.kind.String(), one.namespace, one.name))
		}
		slices.Sort(lines)
		data[addon] = strings.Join(lines, "")
	}
	wanted := corev1ac.ConfigMap(inventoryKey.Name, inventoryKey.Namespace).WithData(data)
	if err := to.Apply(ctx, wanted, FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	return nil
}

// prune deletes objects of an add-on, last those that others depend on. It keeps those that no
// longer have the label of the add-on.
func prune(ctx context.Context, from client.Client, addon string, objects sets.Set[identity]) error {
	for _, one := range slices.SortedFunc(maps.Keys(objects), func(a, b identity) int { return compareKinds(b.kind, a.kind) }) {
		if err := pruneOne(ctx, from, addon, one); err != nil {
			return fmt.Errorf("deleting %s, which the add-on no longer contains: %w", one, err)
		}
	}
	return nil
}

func pruneOne(ctx context.Context, from client.Client, addon string, one identity) error {
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
	if err := from.Get(ctx, key, object); err != nil || object.Labels[AddonLabel] != addon {
		return client.IgnoreNotFound(err)
	}
	err = from.Delete(ctx, object, client.Preconditions{UID: &object.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsConflict(err) {
		return nil // Somebody has replaced it.
	}
	return client.IgnoreNotFound(err)
}
