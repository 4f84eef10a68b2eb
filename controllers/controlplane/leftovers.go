// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
)

// deleteLeftovers deletes what a manager that was killed between two creations has left: KubeadmConfigs and
// infrastructure machines without a Machine. It is called right after checkFresh, so the scope's Machines are all there are.
func (r *Reconciler) deleteLeftovers(ctx context.Context, s *scope) error {
	configs := &bootstrapv1.KubeadmConfigList{}
	if err := r.apiReader.List(ctx, configs, s.selectors()...); err != nil {
		return fmt.Errorf("listing KubeadmConfigs: %w", err)
	}
	var leftovers []client.Object
	for i := range configs.Items {
		if s.leftover(&configs.Items[i]) {
			leftovers = append(leftovers, &configs.Items[i])
		}
	}
	infras := &unstructured.UnstructuredList{}
	kind := cloneKind(s.template.GroupVersionKind())
	kind.Kind += "List"
	infras.SetGroupVersionKind(kind)
	if err := r.apiReader.List(ctx, infras, s.selectors()...); err != nil {
		return fmt.Errorf("listing infrastructure machines: %w", err)
	}
	for i := range infras.Items {
		if s.leftover(&infras.Items[i]) {
			leftovers = append(leftovers, &infras.Items[i])
		}
	}
	return r.deleteAll(ctx, leftovers)
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

// leftover says whether an object was made by this control plane and no Machine took it over.
func (s *scope) leftover(object client.Object) bool {
	_, used := s.machineCollection()[object.GetName()]
	return !used && object.GetDeletionTimestamp().IsZero() && util.IsOwnedByObject(object, s.controlPlane, controlPlaneGroupKind)
}
