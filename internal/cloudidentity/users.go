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

package cloudidentity

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// FooClustersOf returns the FooClusters that name an identity.
func FooClustersOf(ctx context.Context, reader client.Reader, identity string) ([]infrav1.FooCluster, error) {
	all := &infrav1.FooClusterList{}
	if err := reader.List(ctx, all); err != nil {
		return nil, fmt.Errorf("listing FooClusters: %w", err)
	}
	var users []infrav1.FooCluster
	for _, fooCluster := range all.Items {
		if fooCluster.Spec.IdentityRef.Name == identity {
			users = append(users, fooCluster)
		}
	}
	return users, nil
}

// ToFooClusters maps a FooClusterIdentity to the FooClusters that name it.
func ToFooClusters(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, identity client.Object) []reconcile.Request {
		users, err := FooClustersOf(ctx, reader, identity.GetName())
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "What uses the identity is not told of its change")
			return nil
		}
		requests := make([]reconcile.Request, 0, len(users))
		for i := range users {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&users[i])})
		}
		return requests
	}
}

// ToObjects maps a FooClusterIdentity to all objects of a kind that belong to a cluster that uses it. The list says what kind.
func ToObjects(reader client.Reader, list client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, identity client.Object) []reconcile.Request {
		users, err := FooClustersOf(ctx, reader, identity.GetName())
		var requests []reconcile.Request
		for i := range users {
			objects, ok := list.DeepCopyObject().(client.ObjectList)
			name := users[i].Labels[clusterv1.ClusterNameLabel]
			if !ok || name == "" {
				continue
			}
			if err = reader.List(ctx, objects, client.InNamespace(users[i].Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
				break
			}
			// Each item is an object of the API, so that the function can not fail.
			_ = meta.EachListItem(objects, func(item runtime.Object) error {
				if object, ok := item.(client.Object); ok {
					requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
				}
				return nil
			})
		}
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "What uses the identity is not told of its change")
		}
		return requests
	}
}

// Changed passes changes of an identity that its users have to know of, and not those of its labels or of when it was looked at.
func Changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(*infrav1.FooClusterIdentity)
		after, okAfter := e.ObjectNew.(*infrav1.FooClusterIdentity)
		return okBefore && okAfter && (!equality.Semantic.DeepEqual(before.Spec, after.Spec) ||
			conditions.IsTrue(before, infrav1.FooClusterIdentityReadyCondition) != conditions.IsTrue(after, infrav1.FooClusterIdentityReadyCondition))
	}}
}
