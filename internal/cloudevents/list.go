/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cloudevents

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ListAll names the objects of the kind of list that the reader knows. With the cached client of a manager that costs no API
// request.
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
				return fmt.Errorf("%T is no object of the API", item)
			}
			if contains(object) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
			}
			return nil
		})
		return requests, err
	}
}
