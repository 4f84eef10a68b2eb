// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// avoidTaintKey differs from the taint that Cluster API puts on the Nodes of outdated MachineSets,
// because Cluster API removes that taint from all other Nodes.
const avoidTaintKey = "controlplane.cluster.x-k8s.io/outdated"

func isAvoidTaint(taint corev1.Taint) bool { return taint.Key == avoidTaintKey }

// AvoidNode implements Access.
func (c *Connections) AvoidNode(ctx context.Context, cluster client.ObjectKey, name string, avoid bool) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return err
	}
	wanted := map[bool][]corev1.Taint{true: {{Key: avoidTaintKey, Effect: corev1.TaintEffectPreferNoSchedule}}}
	return setAvoidTaint(ctx, connection.client, name, wanted[avoid]...)
}

// setAvoidTaint adds the wanted taint to a Node, or removes the taint if none is wanted.
func setAvoidTaint(ctx context.Context, c client.Client, name string, wanted ...corev1.Taint) error {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	if slices.ContainsFunc(node.Spec.Taints, isAvoidTaint) == (len(wanted) > 0) {
		return nil
	}
	before := node.DeepCopy()
	node.Spec.Taints = append(slices.DeleteFunc(node.Spec.Taints, isAvoidTaint), wanted...)
	// The patch replaces all taints, so it must fail if somebody else has changed them meanwhile.
	if err := c.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("changing the taints of node %s: %w", name, err)
	}
	return nil
}
