// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// claims returns what the other Clusters ask for that were let through, as far as they may create
// instances in the account.
func (t *task) claims(ctx context.Context, classes *classes, others map[types.UID]*clusterv1.Cluster, account string) (map[types.NamespacedName]demand, error) {
	done, err := t.letGo(ctx)
	if err != nil {
		return nil, err
	}
	claims := map[types.NamespacedName]demand{}
	for _, uid := range slices.Sorted(maps.Keys(others)) { // so that the same error comes first each time
		cluster := others[uid]
		letGo := started(cluster) || done[uid] || t.granted[uid]
		if !letGo || !growing(cluster) || elsewhere(cluster) {
			continue
		}
		asked, err := demandOfOther(ctx, classes, cluster)
		if err != nil {
			return nil, err
		}
		shared, err := t.shares(ctx, asked, account)
		if err != nil {
			return nil, err
		}
		if shared {
			claims[client.ObjectKeyFromObject(cluster)] = asked
		}
	}
	return claims, nil
}

// demandOfOther computes what a Cluster that was let through asks for. If that cannot be computed,
// nothing can be created for the Cluster until the cause is fixed. But then nobody asks here again,
// so the maximum counts.
func demandOfOther(ctx context.Context, classes *classes, cluster *clusterv1.Cluster) (demand, error) {
	asked, err := classes.demand(ctx, cluster)
	switch {
	case err == nil:
		return asked, nil
	case passing(ctx, err):
		return demand{}, fmt.Errorf("computing what Cluster %s asks for: %w", client.ObjectKeyFromObject(cluster), err)
	default:
		return unknown(cluster), nil
	}
}

// shares reports whether a demand may be ordered from an account.
func (t *task) shares(ctx context.Context, asked demand, account string) (bool, error) {
	if !asked.isFoo() {
		return false, nil
	}
	theirs, err := t.accountOf(ctx, asked)
	return theirs == account || theirs == anyAccount, err
}

// started reports whether the topology controller has begun to create a Cluster's objects.
func started(cluster *clusterv1.Cluster) bool {
	return cluster.Spec.InfrastructureRef.IsDefined() || cluster.Spec.ControlPlaneRef.IsDefined()
}

// elsewhere reports whether a Cluster is known to have infrastructure other than Foo's, whatever
// its class says by now.
func elsewhere(cluster *clusterv1.Cluster) bool {
	reference := cluster.Spec.InfrastructureRef
	return reference.IsDefined() && !isFoo(reference.GroupKind())
}

// growing reports whether instances may still be created for a Cluster's topology.
func growing(cluster *clusterv1.Cluster) bool {
	return cluster.Spec.Topology.IsDefined() && cluster.DeletionTimestamp.IsZero()
}

// letGo returns the UIDs of the Clusters whose job for this hook is completed.
func (t *task) letGo(ctx context.Context) (map[types.UID]bool, error) {
	list := &extensionv1.HookJobList{}
	if err := t.Client.List(ctx, list, client.InNamespace(t.Namespace)); err != nil {
		return nil, fmt.Errorf("listing HookJobs: %w", err)
	}
	done := map[types.UID]bool{}
	for i := range list.Items {
		if job := &list.Items[i]; job.Spec.Hook == hooks.BeforeClusterCreate && job.IsCompleted() {
			done[job.Spec.ClusterUID] = true
		}
	}
	return done, nil
}
