// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ownertags names things in the cloud after the Kubernetes objects that own them, by a name
// and by tags, and reads the owner back. The controllers of clusters, machines and pools share it,
// so that the load balancer of a cluster finds instances that another controller created, and a
// cloud event finds the object that it is about.
//
// Limits: one tenant of the cloud belongs to one management cluster. Two management clusters that
// share a tenant and have a namespace and an object of the same name would share what the object
// owns.
package ownertags

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Keys of the tags.
const (
	// ClusterKey is the tag with the Cluster, as <namespace>/<name>.
	ClusterKey = "cluster.x-k8s.io/cluster"
	// RoleKey is the tag with what an instance does in its cluster: RoleControlPlane or RoleWorker.
	RoleKey = "cluster.x-k8s.io/role"
	// kindKey is the tag with the kind of the owner.
	kindKey = "infrastructure.cluster.x-k8s.io/kind"
	// namespaceKey is the tag with the namespace of the owner.
	namespaceKey = "infrastructure.cluster.x-k8s.io/namespace"
	// nameKey is the tag with the name of the owner.
	nameKey = "infrastructure.cluster.x-k8s.io/name"
)

// reserved is part of the keys of all tags that Foo sets. Admission refuses it in additional tags.
const reserved = "cluster.x-k8s.io/"

// Role is what an instance does in its cluster.
type Role string

const (
	// RoleControlPlane is an instance that runs the control plane; the load balancer of the cluster
	// selects it.
	RoleControlPlane Role = "control-plane"
	// RoleWorker is any other instance.
	RoleWorker Role = "worker"
)

// Kind is the kind of an owner.
type Kind string

const (
	// KindCluster is FooCluster, which owns a load balancer.
	KindCluster Kind = "FooCluster"
	// KindMachine is FooMachine, which owns an instance.
	KindMachine Kind = "FooMachine"
	// KindMachinePool is FooMachinePool, which owns an instance pool and, through it, the pool's
	// instances.
	KindMachinePool Kind = "FooMachinePool"
)

// Owner is the Kubernetes object that owns something in the cloud.
type Owner struct {
	// Kind is the kind of the object.
	Kind Kind
	// Key is the namespace and name of the object.
	Key types.NamespacedName
}

// CloudName returns the name of what the object owns: <namespace>.<name>. A namespace contains no
// dot, so no two objects of a kind get the same name. An object that is moved to another management
// cluster keeps its namespace and name, so it finds what it owns although it has lost its status.
func (o Owner) CloudName() string { return o.Key.Namespace + "." + o.Key.Name }

// Tags returns the tags of what the object owns for a Cluster, with the additional tags that users
// want. Of additional tags with the same key, the last one counts.
func (o Owner) Tags(cluster types.NamespacedName, additional ...map[string]string) cloud.Tags {
	tags := cloud.Tags{}
	for _, more := range additional {
		maps.Copy(tags, more)
	}
	maps.Copy(tags, cloud.Tags{
		ClusterKey:   cluster.String(),
		kindKey:      string(o.Kind),
		namespaceKey: o.Key.Namespace,
		nameKey:      o.Key.Name,
	})
	return tags
}

// InstanceTags returns the tags of an instance that the object owns and that has a role in a
// Cluster; see Tags.
func (o Owner) InstanceTags(cluster types.NamespacedName, role Role, additional ...map[string]string) cloud.Tags {
	tags := o.Tags(cluster, additional...)
	tags[RoleKey] = string(role)
	return tags
}

// Additional returns the tags of an instance that users want for it, without Foo's own tags and those
// that it shares with the whole cluster; nil if there are none.
func Additional(tags cloud.Tags, ofCluster map[string]string) map[string]string {
	additional := maps.Clone(map[string]string(tags))
	maps.DeleteFunc(additional, func(key, value string) bool {
		shared, ok := ofCluster[key]
		return strings.Contains(key, reserved) || ok && shared == value
	})
	if len(additional) == 0 {
		return nil
	}
	return additional
}

// RoleSelector returns the tags of all instances that have a role in a Cluster. A load balancer
// selects control plane instances by them.
func RoleSelector(cluster types.NamespacedName, role Role) cloud.Tags {
	return cloud.Tags{ClusterKey: cluster.String(), RoleKey: string(role)}
}

// OwnerOf reads the owner from tags. It returns false if no Kubernetes object owns what has the
// tags.
func OwnerOf(tags cloud.Tags) (Owner, bool) {
	owner := Owner{
		Kind: Kind(tags[kindKey]),
		Key:  types.NamespacedName{Namespace: tags[namespaceKey], Name: tags[nameKey]},
	}
	return owner, owner.Kind != "" && owner.Key.Namespace != "" && owner.Key.Name != ""
}

// MachineOf returns the FooMachine of an instance. An instance of a pool has the tags of the pool,
// and its FooMachine has the instance's name, in the namespace of the pool.
func MachineOf(name string, tags cloud.Tags) (types.NamespacedName, bool) {
	owner, ok := OwnerOf(tags)
	if !ok || (owner.Kind != KindMachine && owner.Kind != KindMachinePool) {
		return types.NamespacedName{}, false
	}
	if owner.Kind == KindMachine {
		return owner.Key, true
	}
	machine, found := strings.CutPrefix(name, owner.Key.Namespace+".")
	return types.NamespacedName{Namespace: owner.Key.Namespace, Name: machine}, found && machine != ""
}

// operatingSystem is the operating system of all instances of a Foo cloud.
const operatingSystem = "linux"

// Addresses returns the addresses of an instance.
func Addresses(instance cloud.Instance) []clusterv1.MachineAddress {
	all := []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: instance.Hostname}}
	if instance.Address != "" {
		all = append(all, clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: instance.Address})
	}
	return all
}

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
