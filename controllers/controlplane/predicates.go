// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
)

// controlPlaneChanged drops updates of a FooControlPlane's status. This controller writes the
// status itself, and reporting a failure must not trigger an immediate retry. A lost status and
// resyncs still pass.
func controlPlaneChanged() predicate.Predicate {
	return gate.Updated(func(before, after *controlplanev1.FooControlPlane) bool {
		return before.ResourceVersion == after.ResourceVersion || statusLost(before.Status, after.Status) || gate.PauseChanged(before, after) ||
			!apiequality.Semantic.DeepEqual(metaOf(before), metaOf(after))
	})
}

// metaOf returns the metadata that users and other controllers write. The generation stands for the
// spec.
func metaOf(object client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Generation: object.GetGeneration(), DeletionTimestamp: object.GetDeletionTimestamp(), Labels: object.GetLabels(),
		Annotations: object.GetAnnotations(), OwnerReferences: object.GetOwnerReferences(), Finalizers: object.GetFinalizers(),
	}
}

func statusLost(before, after controlplanev1.FooControlPlaneStatus) bool {
	was := ptr.Deref(before.Initialization.ControlPlaneInitialized, false)
	return was && !ptr.Deref(after.Initialization.ControlPlaneInitialized, false) || len(after.Conditions) < len(before.Conditions)
}

// readOf returns all fields of a Cluster that the controller reads.
func readOf(cluster *clusterv1.Cluster) []any {
	return []any{
		cluster.Spec,
		cluster.Status.FailureDomains,
		cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation],
		ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false),
		clusterInitialized(cluster),
		!cluster.DeletionTimestamp.IsZero(),
	}
}

// clusterChanged accepts changes of the fields that the controller reads. The rest of a Cluster's
// status changes all the time.
func clusterChanged() predicate.Predicate {
	return gate.Updated(func(before, after *clusterv1.Cluster) bool {
		return !apiequality.Semantic.DeepEqual(readOf(before), readOf(after))
	})
}

// infraChanged accepts changes of the number of owners, of the bootstrap condition and of the
// fields that the contract defines. It drops all other changes.
func infraChanged() predicate.Predicate {
	return gate.Updated(func(before, after *unstructured.Unstructured) bool {
		return len(before.GetOwnerReferences()) != len(after.GetOwnerReferences()) ||
			bootstrapped(before) != bootstrapped(after) ||
			!apiequality.Semantic.DeepEqual(readInfraCluster(before), readInfraCluster(after))
	})
}

// bootstrapped reads the condition with which some infrastructure providers report that the
// bootstrap data has run.
func bootstrapped(object *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		fields, ok := item.(map[string]any)
		if ok && fields["type"] == "BootstrapExecSucceeded" {
			status, _ := fields["status"].(string)
			return status
		}
	}
	return ""
}

func ofControlPlaneMachine() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(object client.Object) bool {
		_, ok := object.GetLabels()[clusterv1.MachineControlPlaneLabel]
		return ok
	})
}
