// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Versions returns the Kubernetes versions for which the cloud of a Cluster has its default image,
// oldest first. It returns nil for a Cluster on infrastructure other than Foo's.
func (o Options) Versions(ctx context.Context, key client.ObjectKey) ([]string, error) {
	cluster := &clusterv1.Cluster{}
	if err := o.Client.Get(ctx, key, cluster); err != nil {
		return nil, fmt.Errorf("reading the Cluster: %w", err)
	}
	if !isFoo(cluster.Spec.InfrastructureRef.GroupKind()) {
		return nil, nil
	}
	images, err := o.Clouds.OfCluster(ctx, key).Images(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the cloud's images: %w", err)
	}
	versions := make([]string, 0, len(images))
	for _, image := range images {
		if image.Name == "" {
			versions = append(versions, image.KubernetesVersion)
		}
	}
	return versions, nil
}
