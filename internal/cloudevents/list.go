// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudevents

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ListAll returns a ListFunc for the objects of the kind of list that the reader knows. With the
// cached client of a manager, it costs no API request.
func ListAll(reader client.Reader, list client.ObjectList) ListFunc {
	return func(ctx context.Context, contains func(client.Object) bool) ([]reconcile.Request, error) {
		objects, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok {
			return nil, fmt.Errorf("%T is not a list of objects", list)
		}
		if err := reader.List(ctx, objects); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
		var requests []reconcile.Request
		err := meta.EachListItem(objects, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is not an API object", item)
			}
			if contains(object) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
			}
			return nil
		})
		return requests, err
	}
}
