// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package ownertags

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// operatingSystem is the operating system of all instances of a Foo cloud.
const operatingSystem = "linux"

// NodeCapacity returns the capacity of a node on an instance of the type, and what else is known
// about the node, for the cluster autoscaler. It does not subtract what the kubelet reserves.
func NodeCapacity(size cloud.InstanceType) (corev1.ResourceList, infrav1.NodeInfo) {
	return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(int64(size.CPUs), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(size.MemoryBytes, resource.BinarySI),
		}, infrav1.NodeInfo{
			Architecture: infrav1.Architecture(size.Architecture), OperatingSystem: operatingSystem,
		}
}
