// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
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

// fooClusterOf returns the FooCluster of a Cluster, or nil if its infrastructure is of another kind.
func fooClusterOf(ctx context.Context, reader client.Reader, cluster *clusterv1.Cluster) (*infrav1.FooCluster, error) {
	reference := cluster.Spec.InfrastructureRef
	if reference.Kind != "FooCluster" || reference.APIGroup != infrav1.GroupVersion.Group {
		return nil, nil
	}
	fooCluster := &infrav1.FooCluster{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: reference.Name}, fooCluster); err != nil {
		return nil, fmt.Errorf("getting FooCluster %s: %w", reference.Name, err)
	}
	return fooCluster, nil
}

// AdditionalTagsOf returns the tags that the FooCluster of a Cluster wants on everything in the
// cloud. A FooCluster that is gone wants none.
func AdditionalTagsOf(ctx context.Context, reader client.Reader, cluster *clusterv1.Cluster) (map[string]string, error) {
	fooCluster, err := fooClusterOf(ctx, reader, cluster)
	if fooCluster == nil || err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return fooCluster.Spec.AdditionalTags, nil
}

// ClusterOf returns the Cluster that an object belongs to, by its label or else by an owner
// reference. The Cluster may be gone. The name is empty for an object that no Cluster uses.
func ClusterOf(object client.Object) client.ObjectKey {
	name := object.GetLabels()[clusterv1.ClusterNameLabel]
	if owners := ClustersOf(object); name == "" && len(owners) > 0 {
		return owners[0]
	}
	return client.ObjectKey{Namespace: object.GetNamespace(), Name: name}
}

// ClustersOf returns the Clusters that own an object. A template may have several.
func ClustersOf(object client.Object) []client.ObjectKey {
	var clusters []client.ObjectKey
	for _, reference := range object.GetOwnerReferences() {
		group, err := schema.ParseGroupVersion(reference.APIVersion)
		if err == nil && group.Group == clusterv1.GroupVersion.Group && reference.Kind == "Cluster" {
			clusters = append(clusters, client.ObjectKey{Namespace: object.GetNamespace(), Name: reference.Name})
		}
	}
	return clusters
}

// Scope returns which objects belong to clusters that use an identity, or that use none if the name
// is empty. An object of a cluster without a FooCluster counts as using none.
func Scope(reader client.Reader, identity string) cloudevents.Scope {
	return func(ctx context.Context) (func(client.Object) bool, error) {
		all := &infrav1.FooClusterList{}
		if err := reader.List(ctx, all); err != nil {
			return nil, fmt.Errorf("listing FooClusters: %w", err)
		}
		used := map[client.ObjectKey]string{}
		for i := range all.Items {
			if cluster := ClusterOf(&all.Items[i]); cluster.Name != "" {
				used[cluster] = all.Items[i].Spec.IdentityRef.Name
			}
		}
		return func(object client.Object) bool {
			if fooCluster, ok := object.(*infrav1.FooCluster); ok {
				return fooCluster.Spec.IdentityRef.Name == identity
			}
			if clusters := ClustersOf(object); len(clusters) > 0 {
				return slices.ContainsFunc(clusters, func(cluster client.ObjectKey) bool { return used[cluster] == identity })
			}
			return used[ClusterOf(object)] == identity
		}, nil
	}
}

// ToObjects maps a FooClusterIdentity to all objects of a kind that belong to clusters that use it.
// The list determines the kind.
func ToObjects(reader client.Reader, list client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, identity client.Object) []reconcile.Request {
		contains, err := Scope(reader, identity.GetName())(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Could not reconcile the users of a changed identity")
			return nil
		}
		requests, err := cloudevents.ListAll(reader, list)(ctx, contains)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Could not reconcile the users of a changed identity")
		}
		return requests
	}
}

// Changed passes the changes of an identity that matter to its users.
func Changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(*infrav1.FooClusterIdentity)
		after, okAfter := e.ObjectNew.(*infrav1.FooClusterIdentity)
		return okBefore && okAfter && (!equality.Semantic.DeepEqual(before.Spec, after.Spec) ||
			conditions.IsTrue(before, infrav1.FooClusterIdentityReadyCondition) != conditions.IsTrue(after, infrav1.FooClusterIdentityReadyCondition))
	}}
}
