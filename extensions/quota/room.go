// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// account is the state of a tenant of the cloud at one moment.
type account struct {
	limits cloud.Resources
	// used is what counts against the limits.
	used cloud.Resources
	// clusters is the part of it that belongs to each Cluster.
	clusters map[types.NamespacedName]cloud.Resources
}

// decision is whether there is room, with the numbers that explain it.
type decision struct {
	wanted, reserved cloud.Resources
	// short names the resources that do not suffice, with the numbers. If it is empty, there is
	// room.
	short []string
}

// decide returns whether a tenant has room for what is wanted, in addition to what is used and what
// the claims of Clusters that were let through still need.
func decide(now account, claims map[types.NamespacedName]cloud.Resources, wanted cloud.Resources) decision {
	result := decision{wanted: wanted}
	for cluster, claimed := range claims {
		result.reserved = sum(result.reserved, missing(claimed, now.clusters[cluster]))
	}
	for _, kind := range kinds() {
		limit, used, reserved, asked := kind.of(now.limits), kind.of(now.used), kind.of(result.reserved), kind.of(wanted)
		// A resource that is not requested cannot be missing, even if others use more than
		// they may.
		if limit == 0 || asked == 0 || used+reserved+asked <= limit {
			continue
		}
		result.short = append(result.short, fmt.Sprintf("%s: %s needed, %s of %s used, %s reserved for other Clusters",
			kind.name, kind.text(asked), kind.text(used), kind.text(limit), kind.text(reserved)))
	}
	return result
}

// missing returns what is wanted but does not exist yet, for each resource separately.
func missing(wanted, have cloud.Resources) cloud.Resources {
	return cloud.Resources{
		Instances:     max(0, wanted.Instances-have.Instances),
		CPUs:          max(0, wanted.CPUs-have.CPUs),
		MemoryBytes:   max(0, wanted.MemoryBytes-have.MemoryBytes),
		LoadBalancers: max(0, wanted.LoadBalancers-have.LoadBalancers),
	}
}

func sum(a, b cloud.Resources) cloud.Resources {
	return cloud.Resources{
		Instances: a.Instances + b.Instances, CPUs: a.CPUs + b.CPUs,
		MemoryBytes: a.MemoryBytes + b.MemoryBytes, LoadBalancers: a.LoadBalancers + b.LoadBalancers,
	}
}

// larger returns the larger amount of both, for each resource separately.
func larger(a, b cloud.Resources) cloud.Resources {
	return cloud.Resources{
		Instances: max(a.Instances, b.Instances), CPUs: max(a.CPUs, b.CPUs),
		MemoryBytes: max(a.MemoryBytes, b.MemoryBytes), LoadBalancers: max(a.LoadBalancers, b.LoadBalancers),
	}
}

// kind is a resource that a quota limits.
type kind struct {
	name string
	of   func(cloud.Resources) int64
	text func(int64) string
}

func kinds() []kind {
	count := func(n int64) string { return fmt.Sprint(n) }
	return []kind{
		{"instances", func(r cloud.Resources) int64 { return int64(r.Instances) }, count},
		{"CPUs", func(r cloud.Resources) int64 { return int64(r.CPUs) }, count},
		{"memory", func(r cloud.Resources) int64 { return r.MemoryBytes }, func(n int64) string {
			return resource.NewQuantity(n, resource.BinarySI).String()
		}},
		{"load balancers", func(r cloud.Resources) int64 { return int64(r.LoadBalancers) }, count},
	}
}

// describe lists amounts for users.
func describe(amounts cloud.Resources) string {
	var texts []string
	for _, kind := range kinds() {
		if amount := kind.of(amounts); amount > 0 {
			texts = append(texts, kind.name+" "+kind.text(amount))
		}
	}
	if len(texts) == 0 {
		return "nothing"
	}
	return strings.Join(texts, ", ")
}

// count returns what a tenant has, from the lists of the cloud. The used amount is never less than
// what the cloud reports, which may include more, nor than what was listed, which may be newer.
func count(instances []cloud.Instance, loadBalancers []cloud.LoadBalancer, quota cloud.Quota, sizes sizes) account {
	now := account{limits: quota.Limits, clusters: map[types.NamespacedName]cloud.Resources{}}
	add := func(tags cloud.Tags, amounts cloud.Resources) {
		now.used = sum(now.used, amounts)
		namespace, name, ok := strings.Cut(tags[ownertags.ClusterKey], "/")
		if ok {
			cluster := types.NamespacedName{Namespace: namespace, Name: name}
			now.clusters[cluster] = sum(now.clusters[cluster], amounts)
		}
	}
	for _, instance := range instances {
		// Nothing is known about a type that is no longer offered, so it leaves its
		// Cluster's claim as large as possible.
		size := sizes.known[instance.Type]
		add(instance.Tags, cloud.Resources{Instances: 1, CPUs: size.CPUs, MemoryBytes: size.MemoryBytes})
	}
	for _, loadBalancer := range loadBalancers {
		add(loadBalancer.Tags, cloud.Resources{LoadBalancers: 1})
	}
	now.used = larger(now.used, quota.Used)
	return now
}

// sizes are the instance types of a cloud.
type sizes struct {
	known map[string]cloud.InstanceType
	// largest has the most CPUs and the most memory of all types, which need not belong to the
	// same type.
	largest cloud.InstanceType
}

func newSizes(types []cloud.InstanceType) sizes {
	result := sizes{known: map[string]cloud.InstanceType{}}
	for _, one := range types {
		result.known[one.Name] = one
		result.largest.CPUs = max(result.largest.CPUs, one.CPUs)
		result.largest.MemoryBytes = max(result.largest.MemoryBytes, one.MemoryBytes)
	}
	return result
}

// amounts returns what machines need. Machines whose type is uncertain or unknown to the cloud
// count as the largest type.
func (s sizes) amounts(asked demand) cloud.Resources {
	result := cloud.Resources{LoadBalancers: 1}
	for name, replicas := range asked.machines {
		size, ok := s.known[name]
		if !ok || asked.uncertain {
			size = s.largest
		}
		result = sum(result, cloud.Resources{Instances: replicas, CPUs: replicas * size.CPUs, MemoryBytes: int64(replicas) * size.MemoryBytes})
	}
	return result
}
