// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
)

// controlPlaneChanged drops updates of a FooControlPlane's status, which this controller writes itself: a failure that it
// reports must not have it try again at once. A status that was lost passes, and so do resyncs.
func controlPlaneChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*controlplanev1.FooControlPlane)
			after, okAfter := e.ObjectNew.(*controlplanev1.FooControlPlane)
			if !okBefore || !okAfter {
				return false
			}
			return before.ResourceVersion == after.ResourceVersion || statusLost(before.Status, after.Status) || gate.PauseChanged(before, after) ||
				!apiequality.Semantic.DeepEqual(metaOf(before), metaOf(after))
		},
	}
}

// metaOf returns what users and other controllers write of an object's metadata. The generation stands for its spec.
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

// clusterView is what the controller reads of a Cluster.
type clusterView struct {
	spec           clusterv1.ClusterSpec
	failureDomains []clusterv1.FailureDomain
	upgradeStep    string
	provisioned    bool
	initialized    bool
	deleting       bool
}

func viewCluster(cluster *clusterv1.Cluster) clusterView {
	return clusterView{
		spec:           cluster.Spec,
		failureDomains: cluster.Status.FailureDomains,
		upgradeStep:    cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation],
		provisioned:    ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false),
		initialized:    clusterInitialized(cluster),
		deleting:       !cluster.DeletionTimestamp.IsZero(),
	}
}

// clusterChanged passes changes of what the controller reads of a Cluster, whose status changes all the time otherwise.
func clusterChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*clusterv1.Cluster)
			after, okAfter := e.ObjectNew.(*clusterv1.Cluster)
			return okBefore && okAfter && !sameView(viewCluster(before), viewCluster(after))
		},
	}
}

func sameView(a, b clusterView) bool {
	return a.provisioned == b.provisioned && a.initialized == b.initialized && a.deleting == b.deleting && a.upgradeStep == b.upgradeStep &&
		apiequality.Semantic.DeepEqual(a.spec, b.spec) && apiequality.Semantic.DeepEqual(a.failureDomains, b.failureDomains)
}

// infraChanged passes changes of what the contract says of an infrastructure object, and drops its conditions.
func infraChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*unstructured.Unstructured)
			after, okAfter := e.ObjectNew.(*unstructured.Unstructured)
			if !okBefore || !okAfter {
				return false
			}
			return len(before.GetOwnerReferences()) != len(after.GetOwnerReferences()) ||
				bootstrapped(before) != bootstrapped(after) ||
				!apiequality.Semantic.DeepEqual(readInfraCluster(before), readInfraCluster(after))
		},
	}
}

// bootstrapped reads the condition by which infrastructure providers that can tell say that the bootstrap data has run.
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
