// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// world is the relevant content of a workload cluster.
type world struct {
	services []corev1.Service
	claims   []corev1.PersistentVolumeClaim
	// volumes by name.
	volumes map[string]corev1.PersistentVolume
	// pods of the namespaces that have claims to delete.
	pods []corev1.Pod
	sets []appsv1.StatefulSet
	// workloads by UID: everything that may own pods or their owners.
	workloads map[types.UID]workload
}

// workload is an object that creates pods or their owners.
type workload struct {
	ref
	// owner is the UID of its controller, or empty if it has none.
	owner types.UID
}

// ref names an object of the workload cluster.
type ref struct {
	kind            schema.GroupVersionKind
	namespace, name string
	uid             types.UID
	// deleting means that somebody has deleted the object, but it still exists.
	deleting bool
}

func refTo(kind schema.GroupVersionKind, object metav1.Object) ref {
	return ref{
		kind: kind, namespace: object.GetNamespace(), name: object.GetName(), uid: object.GetUID(),
		deleting: object.GetDeletionTimestamp() != nil,
	}
}

// String names the object for users.
func (r ref) String() string {
	if r.namespace == "" {
		return r.kind.Kind + " " + r.name
	}
	return fmt.Sprintf("%s %s/%s", r.kind.Kind, r.namespace, r.name)
}

// workloadKinds returns the kinds of Kubernetes, except StatefulSet, that create pods or their
// owners.
func workloadKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		appsv1.SchemeGroupVersion.WithKind("DaemonSet"), corev1.SchemeGroupVersion.WithKind("ReplicationController"),
		batchv1.SchemeGroupVersion.WithKind("Job"), batchv1.SchemeGroupVersion.WithKind("CronJob"),
	}
}

// look reads what exists. It reads pods and workloads only if there are claims to delete.
func look(ctx context.Context, from client.Client) (world, error) {
	found := world{volumes: map[string]corev1.PersistentVolume{}, workloads: map[types.UID]workload{}}
	var services corev1.ServiceList
	var claims corev1.PersistentVolumeClaimList
	var volumes corev1.PersistentVolumeList
	// List claims before volumes: a claim is bound only if its volume exists.
	for _, list := range []client.ObjectList{&services, &claims, &volumes} {
		if err := from.List(ctx, list); err != nil {
			return world{}, fmt.Errorf("listing in the workload cluster: %w", err)
		}
	}
	found.services, found.claims = services.Items, claims.Items
	for _, volume := range volumes.Items {
		found.volumes[volume.Name] = volume
	}
	namespaces := sets.New[string]()
	for i := range found.claims {
		if found.deletes(&found.claims[i]) {
			namespaces.Insert(found.claims[i].Namespace)
		}
	}
	if len(namespaces) == 0 {
		return found, nil
	}
	return found, found.lookForUsers(ctx, from, sets.List(namespaces))
}

func (w *world) lookForUsers(ctx context.Context, from client.Client, namespaces []string) error {
	for _, namespace := range namespaces {
		var pods corev1.PodList
		if err := from.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("listing in the workload cluster: %w", err)
		}
		w.pods = append(w.pods, pods.Items...)
	}
	var all appsv1.StatefulSetList
	if err := from.List(ctx, &all); err != nil {
		return fmt.Errorf("listing in the workload cluster: %w", err)
	}
	w.sets = all.Items
	for i := range w.sets {
		w.add(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), &w.sets[i])
	}
	for _, kind := range workloadKinds() {
		// Only names and owners are needed.
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := from.List(ctx, list); err != nil {
			return fmt.Errorf("listing in the workload cluster: %w", err)
		}
		for i := range list.Items {
			w.add(kind, &list.Items[i])
		}
	}
	return nil
}

func (w *world) add(kind schema.GroupVersionKind, object metav1.Object) {
	made := workload{ref: refTo(kind, object)}
	if owner := metav1.GetControllerOf(object); owner != nil {
		made.owner = owner.UID
	}
	w.workloads[object.GetUID()] = made
}
