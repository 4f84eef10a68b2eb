// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
)

// deleteLeftovers deletes KubeadmConfigs and infrastructure machines without a Machine, which a
// manager leaves if it is killed between two creations. It is called right after checkFresh, so the
// scope holds all existing Machines.
func (r *Reconciler) deleteLeftovers(ctx context.Context, s *scope) error {
	var leftovers []client.Object
	for _, kind := range []schema.GroupVersionKind{configKind, cloneKind(s.template.GroupVersionKind())} {
		found := &unstructured.UnstructuredList{}
		found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := r.apiReader.List(ctx, found, s.selectors()...); err != nil {
			return fmt.Errorf("listing %ss: %w", kind.Kind, err)
		}
		for i := range found.Items {
			if s.leftover(&found.Items[i]) {
				leftovers = append(leftovers, &found.Items[i])
			}
		}
	}
	return r.deleteAll(ctx, leftovers...)
}

func (s *scope) selectors() []client.ListOption {
	meta := s.machineMeta("")
	return []client.ListOption{
		client.InNamespace(meta.Namespace),
		client.MatchingLabels{
			clusterv1.ClusterNameLabel:             s.cluster.Name,
			clusterv1.MachineControlPlaneNameLabel: meta.Labels[clusterv1.MachineControlPlaneNameLabel],
		},
	}
}

// leftover reports whether this control plane made an object that no Machine has taken over.
func (s *scope) leftover(object client.Object) bool {
	_, used := s.machineCollection()[object.GetName()]
	return !used && object.GetDeletionTimestamp().IsZero() && util.IsOwnedByObject(object, s.controlPlane, controlPlaneGroupKind)
}
