// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package ownertags

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// operatingSystem is what all instances of a Foo cloud run.
const operatingSystem = "linux"

// NodeCapacity returns the capacity of a node on an instance of the type, and what else is known of it, for the cluster
// autoscaler. What the kubelet keeps for itself is not taken off.
func NodeCapacity(size cloud.InstanceType) (corev1.ResourceList, infrav1.NodeInfo) {
	return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(int64(size.CPUs), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(size.MemoryBytes, resource.BinarySI),
		}, infrav1.NodeInfo{
			Architecture: infrav1.Architecture(size.Architecture), OperatingSystem: operatingSystem,
		}
}
