// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TakeLeadership implements Access.
func (c *Connections) TakeLeadership(ctx context.Context, cluster client.ObjectKey, gone []string) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return err
	}
	return takeLeadership(ctx, connection.client, gone)
}

// takeLeadership clears the holder of the controller manager's lease if it ran on one of the hosts.
// A holder's identity is its host name followed by a random part.
func takeLeadership(ctx context.Context, c client.Client, gone []string) error {
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: string(ControllerManager)}
	if err := c.Get(ctx, key, lease); err != nil {
		return client.IgnoreNotFound(err)
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if !slices.ContainsFunc(gone, func(host string) bool { return strings.HasPrefix(holder, host+"_") }) {
		return nil
	}
	before := lease.DeepCopy()
	lease.Spec.HolderIdentity = ptr.To("")
	// The optimistic lock protects a lease that another controller manager has acquired meanwhile.
	if err := c.Patch(ctx, lease, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("taking the leadership from %s, whose machine is gone: %w", holder, err)
	}
	return nil
}
