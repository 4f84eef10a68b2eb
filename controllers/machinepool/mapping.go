// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

const poolKind = "FooMachinePool"

// requestsFor maps an event about a pool or one of its instances to the FooMachinePool.
func requestsFor(event cloud.Event) []reconcile.Request {
	owner, ok := ownertags.OwnerOf(event.Tags)
	if !ok || owner.Kind != ownertags.KindMachinePool {
		return nil
	}
	return []reconcile.Request{{NamespacedName: owner.Key}}
}

// fooMachineToPool maps a FooMachine to the FooMachinePool that created it.
func fooMachineToPool(_ context.Context, object client.Object) []reconcile.Request {
	for _, ref := range object.GetOwnerReferences() {
		if ref.Kind == poolKind && ref.APIVersion == infrav1.GroupVersion.String() {
			key := types.NamespacedName{Namespace: object.GetNamespace(), Name: ref.Name}
			return []reconcile.Request{{NamespacedName: key}}
		}
	}
	return nil
}

// machineToPool maps a Machine to the FooMachinePool that created its FooMachine.
func (r *reconciler) machineToPool(ctx context.Context, machine client.Object) []reconcile.Request {
	name := controlledBy(machine, "MachinePool")
	if name == "" {
		return nil
	}
	machinePool := &clusterv1.MachinePool{}
	key := types.NamespacedName{Namespace: machine.GetNamespace(), Name: name}
	if err := r.client.Get(ctx, key, machinePool, client.UnsafeDisableDeepCopy); err != nil {
		if client.IgnoreNotFound(err) != nil {
			ctrl.LoggerFrom(ctx).Error(err, "MachinePool could not be read after a Machine changed", "MachinePool", klog.KRef(key.Namespace, key.Name))
		}
		return nil
	}
	ref := machinePool.Spec.Template.Spec.InfrastructureRef
	if ref.Kind != poolKind || ref.APIGroup != infrav1.GroupVersion.Group {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: key.Namespace, Name: ref.Name}}}
}

// zonesChanged passes updates of a Cluster only if they change its failure domains. Nothing else may
// happen to its pools until the cloud replaces a lost instance, in one of the zones that it knows.
func zonesChanged() predicate.Predicate {
	return gate.Updated(func(before, after *clusterv1.Cluster) bool {
		return !equality.Semantic.DeepEqual(before.Status.FailureDomains, after.Status.FailureDomains)
	})
}

// machineMatters passes the changes of a Machine that a decision about members may depend on.
func machineMatters() predicate.Predicate {
	return predicate.Or[client.Object](gate.BesidesStatus(), gate.Updated(func(before, after *clusterv1.Machine) bool {
		return before.Status.NodeRef.IsDefined() != after.Status.NodeRef.IsDefined() ||
			infrastructureDeleted(before) != infrastructureDeleted(after) ||
			slices.ContainsFunc(decisiveConditions, func(kind string) bool {
				return conditions.IsTrue(before, kind) != conditions.IsTrue(after, kind) ||
					conditions.IsFalse(before, kind) != conditions.IsFalse(after, kind)
			})
	}))
}

var decisiveConditions = []string{
	clusterv1.MachineAvailableCondition, clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition,
}

// secretToPools maps a Secret to the FooMachinePools whose bootstrap data it holds, so that a
// renewed token reaches the template of the pool.
func (r *reconciler) secretToPools(ctx context.Context, secret client.Object) []reconcile.Request {
	machinePools := &clusterv1.MachinePoolList{}
	if err := r.client.List(ctx, machinePools, client.InNamespace(secret.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "MachinePools could not be listed after a Secret changed")
		return nil
	}
	var requests []reconcile.Request
	for i := range machinePools.Items {
		template := &machinePools.Items[i].Spec.Template.Spec
		ref := template.InfrastructureRef
		if ptr.Deref(template.Bootstrap.DataSecretName, "") == secret.GetName() &&
			ref.Kind == poolKind && ref.APIGroup == infrav1.GroupVersion.Group {
			key := types.NamespacedName{Namespace: secret.GetNamespace(), Name: ref.Name}
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
	}
	return requests
}
