// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// plan is what to delete, what to wait for and what stays.
type plan struct {
	// remove are the objects to delete, in order. Objects that recreate others come before
	// them.
	remove []ref
	// waits are the objects that must be gone before the Cluster may be deleted, and what
	// blocks them.
	waits []waiting
	// stays describe what is left in the cloud, and why.
	stays []string
}

// waiting is an object that must be gone.
type waiting struct {
	ref
	// because is what blocks the deletion. It may be empty.
	because string
}

// String describes for users what must be gone, and what blocks it.
func (w waiting) String() string {
	if w.because == "" {
		return w.ref.String()
	}
	return fmt.Sprintf("%s (%s)", w.ref, w.because)
}

// deletes reports whether a claim is to be deleted, because it has a volume in the cloud that goes with it,
// or may still get one. A claim stays if its volume is lost, or must outlive it.
func (w *world) deletes(claim *corev1.PersistentVolumeClaim) bool {
	volume, exists := w.volumes[claim.Spec.VolumeName]
	return claim.Spec.VolumeName == "" || exists && volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// decide plans what to delete. The plan is empty if nothing is left to delete.
func decide(found *world) plan {
	var made plan
	users := found.users()
	owners, pods := found.inTheWay(users)
	made.remove = slices.Concat(owners, pods)
	for i := range found.claims {
		claim := &found.claims[i]
		if !found.deletes(claim) {
			continue
		}
		one := refTo(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
		made.remove = append(made.remove, one)
		wait := waiting{ref: one}
		if pods := users[client.ObjectKeyFromObject(claim)]; len(pods) > 0 {
			wait.because = "in use by Pod " + pods[0].Name
		}
		made.waits = append(made.waits, wait)
	}
	made.services(found.services)
	made.volumes(found.volumes)
	made.remove = slices.DeleteFunc(made.remove, func(one ref) bool { return one.deleting })
	slices.SortFunc(made.waits, func(a, b waiting) int { return compare(a.ref, b.ref) })
	return made
}

func (p *plan) services(all []corev1.Service) {
	for i := range all {
		if all[i].Spec.Type != corev1.ServiceTypeLoadBalancer {
			continue
		}
		one := refTo(corev1.SchemeGroupVersion.WithKind("Service"), &all[i])
		p.remove = append(p.remove, one)
		p.waits = append(p.waits, waiting{ref: one})
	}
}

// volumes records which volumes to wait for and which ones stay. Volumes are not deleted here:
// their creator deletes them after their claims.
func (p *plan) volumes(all map[string]corev1.PersistentVolume) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		volume := all[name]
		claim := volume.Spec.ClaimRef
		// A volume that no claim was bound to was created by hand.
		if claim == nil || claim.UID == "" {
			continue
		}
		one := refTo(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), &volume)
		if volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			p.waits = append(p.waits, waiting{ref: one})
			continue
		}
		p.stays = append(p.stays, fmt.Sprintf("%s of PersistentVolumeClaim %s/%s is kept: its reclaim policy is %s",
			one, claim.Namespace, claim.Name, volume.Spec.PersistentVolumeReclaimPolicy))
	}
}

// users returns the pods that use claims to be deleted, by claim and sorted by name.
func (w *world) users() map[types.NamespacedName][]*corev1.Pod {
	users := map[types.NamespacedName][]*corev1.Pod{}
	for i := range w.claims {
		if w.deletes(&w.claims[i]) {
			users[client.ObjectKeyFromObject(&w.claims[i])] = nil
		}
	}
	for i := range w.pods {
		pod := &w.pods[i]
		for _, name := range claimsOf(pod) {
			key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
			if pods, ok := users[key]; ok {
				users[key] = append(pods, pod)
			}
		}
	}
	for _, pods := range users {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	}
	return users
}

// claimsOf returns the names of the claims that a pod uses, including its ephemeral volumes.
func claimsOf(pod *corev1.Pod) []string {
	var list []string
	for _, volume := range pod.Spec.Volumes {
		switch {
		case volume.PersistentVolumeClaim != nil:
			list = append(list, volume.PersistentVolumeClaim.ClaimName)
		case volume.Ephemeral != nil:
			list = append(list, pod.Name+"-"+volume.Name)
		}
	}
	return list
}

// inTheWay returns the workloads that use claims or would recreate them, and the pods that use
// them. Both are sorted.
func (w *world) inTheWay(users map[types.NamespacedName][]*corev1.Pod) (owners, pods []ref) {
	uids := map[types.UID]bool{}
	for _, list := range users {
		for _, pod := range list {
			pods = append(pods, refTo(corev1.SchemeGroupVersion.WithKind("Pod"), pod))
			if owner := metav1.GetControllerOf(pod); owner != nil {
				uids[w.top(owner.UID)] = true
			}
		}
	}
	for i := range w.sets {
		for key := range users {
			if makes(&w.sets[i], key) {
				uids[w.top(w.sets[i].UID)] = true
			}
		}
	}
	for uid := range uids {
		if owner, ok := w.workloads[uid]; ok {
			owners = append(owners, owner.ref)
		}
	}
	slices.SortFunc(owners, compare)
	slices.SortFunc(pods, compare)
	return owners, slices.Compact(pods)
}

// top returns the topmost known owner of a workload, which may be the workload itself.
func (w *world) top(uid types.UID) types.UID {
	// Two objects may name each other as owner, so limit the number of steps.
	for range w.workloads {
		above := w.workloads[uid].owner
		if _, ok := w.workloads[above]; !ok {
			return uid
		}
		uid = above
	}
	return uid
}

// makes reports whether a StatefulSet creates the claim, judging by the names of its claims.
func makes(set *appsv1.StatefulSet, claim types.NamespacedName) bool {
	if set.Namespace != claim.Namespace {
		return false
	}
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		ordinal, ok := strings.CutPrefix(claim.Name, template.Name+"-"+set.Name+"-")
		if !ok {
			return false
		}
		_, err := strconv.ParseUint(ordinal, 10, 32)
		return err == nil
	})
}

func compare(a, b ref) int { return cmp.Compare(a.String(), b.String()) }
