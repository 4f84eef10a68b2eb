// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// account is what a tenant of the cloud has at one moment.
type account struct {
	limits cloud.Resources
	// used is what counts against the limits.
	used cloud.Resources
	// clusters is what of it belongs to which Cluster.
	clusters map[types.NamespacedName]cloud.Resources
}

// claim is what a Cluster that was let go asks for.
type claim struct {
	cluster types.NamespacedName
	wanted  cloud.Resources
}

// verdict is whether there is room, and the numbers that say why.
type verdict struct {
	wanted, reserved cloud.Resources
	// short names what there is not enough of, with the numbers. There is room if it is empty.
	short []string
}

// decide returns whether a tenant has room for what is wanted, beside what is used and what is still to come of the claims.
func decide(now account, claims []claim, wanted cloud.Resources) verdict {
	result := verdict{wanted: wanted}
	for _, claim := range claims {
		result.reserved = sum(result.reserved, missing(claim.wanted, now.clusters[claim.cluster]))
	}
	for _, kind := range kinds() {
		limit, used, reserved, asked := kind.of(now.limits), kind.of(now.used), kind.of(result.reserved), kind.of(wanted)
		// What is not asked for can not be what is missing, even if others have more than they may.
		if limit == 0 || asked == 0 || used+reserved+asked <= limit {
			continue
		}
		result.short = append(result.short, fmt.Sprintf("%s: wants %s, %s of %s used, %s reserved for other Clusters",
			kind.name, kind.text(asked), kind.text(used), kind.text(limit), kind.text(reserved)))
	}
	return result
}

// missing is what of the wanted is not there yet, each kind by itself.
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

// larger is the larger of both, each kind by itself.
func larger(a, b cloud.Resources) cloud.Resources {
	return cloud.Resources{
		Instances: max(a.Instances, b.Instances), CPUs: max(a.CPUs, b.CPUs),
		MemoryBytes: max(a.MemoryBytes, b.MemoryBytes), LoadBalancers: max(a.LoadBalancers, b.LoadBalancers),
	}
}

// kind is one of the things that a quota limits.
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

// describe lists amounts for people.
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

// count returns what a tenant has, from what the cloud lists. The used is never less than what the cloud says, which may know
// of more, nor than what was listed, which may be newer.
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
		// Of a type that is not offered any more nothing is known, so it leaves its Cluster's claim as large as it can be.
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
	// largest has the most CPUs and the most memory of all types, which need not be the same one.
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

// amounts returns what machines need. Those whose type nobody knows, or whose type the cloud does not have, count as the largest.
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
