/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package quota

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Versions returns the Kubernetes versions of which the cloud of a Cluster has an image, oldest first; nil for a Cluster on
// another infrastructure than Foo's.
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
		versions = append(versions, image.KubernetesVersion)
	}
	return versions, nil
}
