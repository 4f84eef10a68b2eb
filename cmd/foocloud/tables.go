// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

var instances = kind[cloud.Instance]{
	singular: "instance", plural: "instances", event: cloud.EventInstance,
	view: view[cloud.Instance]{
		columns: []string{
			"ID", "NAME", "STATE", "BOOTSTRAP", "ADDRESS", "ZONE", "VERSION", "TYPE*", "DISK*", "IMAGE*", "POOL*", "CLUSTER*", "AGE", "MESSAGE",
		},
		rows: func(i cloud.Instance) [][]any {
			return [][]any{{
				i.ID, i.Name, i.State, i.Bootstrap.State, i.Address, i.Zone, i.KubernetesVersion, i.Type, disk(i.DiskBytes), i.Image, i.Pool,
				i.Tags[ownertags.ClusterKey], age(i.CreatedAt), instanceMessage(i),
			}}
		},
		name: func(i cloud.Instance) string { return i.Name },
	},
	list: func(ctx context.Context, c *client.Client) ([]cloud.Instance, error) {
		return c.ListInstances(ctx, cloud.InstanceFilter{})
	},
	names: func(i cloud.Instance) []string { return []string{i.ID, i.Name, withoutNamespace(i.Name)} },
	about: func(i cloud.Instance, e cloud.Event) bool { return i.ID == e.ID },
	tags:  func(i cloud.Instance) cloud.Tags { return i.Tags },
}

// instanceMessage explains the state of an instance in one line.
func instanceMessage(i cloud.Instance) string {
	if i.ReclaimAt != nil {
		return "will be reclaimed at " + i.ReclaimAt.Format(time.RFC3339)
	}
	return oneLine(cmp.Or(i.Message, i.Bootstrap.Message))
}

var pools = kind[cloud.Pool]{
	singular: "pool", plural: "pools", event: cloud.EventPool,
	view: view[cloud.Pool]{
		columns: []string{"NAME", "SIZE", "INSTANCES", "TYPE", "VERSION", "REVISION", "ZONES*", "CLUSTER*", "DELETING", "PROBLEM"},
		rows: func(p cloud.Pool) [][]any {
			return [][]any{{
				p.Name, p.Size, p.Instances, p.Template.Type, p.Template.KubernetesVersion, p.Revision, zonesOf(p), p.Tags[ownertags.ClusterKey],
				p.Deleting, problem(p),
			}}
		},
		name: func(p cloud.Pool) string { return p.Name },
	},
	list:  func(ctx context.Context, c *client.Client) ([]cloud.Pool, error) { return c.ListPools(ctx, nil) },
	names: func(p cloud.Pool) []string { return []string{p.Name, withoutNamespace(p.Name)} },
	about: func(p cloud.Pool, e cloud.Event) bool { return p.Name == e.Name },
	tags:  func(p cloud.Pool) cloud.Tags { return p.Tags },
}

func zonesOf(p cloud.Pool) string {
	if len(p.Zones) == 0 {
		return "all"
	}
	return strings.Join(p.Zones, ",")
}

func problem(p cloud.Pool) string {
	if p.Problem == nil {
		return ""
	}
	return string(p.Problem.Reason) + ": " + oneLine(p.Problem.Message)
}

var balancers = kind[cloud.LoadBalancer]{
	singular: "load balancer", plural: "load balancers", event: cloud.EventLoadBalancer,
	view: view[cloud.LoadBalancer]{
		columns: []string{"NAME", "ADDRESS", "PORT", "READY", "BACKENDS", "CLUSTER*", "MESSAGE"},
		rows: func(b cloud.LoadBalancer) [][]any {
			backends := make([]string, 0, len(b.Backends))
			for _, backend := range b.Backends {
				backends = append(backends, backend.InstanceID+"="+backend.Address)
			}
			return [][]any{{
				b.Name, b.Address, b.Port, b.Ready, strings.Join(backends, ","), b.Tags[ownertags.ClusterKey], oneLine(b.Message),
			}}
		},
		name: func(b cloud.LoadBalancer) string { return b.Name },
	},
	list: func(ctx context.Context, c *client.Client) ([]cloud.LoadBalancer, error) {
		return c.ListLoadBalancers(ctx, nil)
	},
	names: func(b cloud.LoadBalancer) []string { return []string{b.Name, withoutNamespace(b.Name)} },
	about: func(b cloud.LoadBalancer, e cloud.Event) bool { return b.Name == e.Name },
	tags:  func(b cloud.LoadBalancer) cloud.Tags { return b.Tags },
}

var (
	zoneView = view[cloud.Zone]{
		columns: []string{"NAME", "CONTROL-PLANE"},
		rows:    func(z cloud.Zone) [][]any { return [][]any{{z.Name, z.ControlPlane}} },
		name:    func(z cloud.Zone) string { return z.Name },
	}
	imageView = view[cloud.Image]{
		columns: []string{"NAME", "KUBERNETES-VERSION"},
		rows:    func(i cloud.Image) [][]any { return [][]any{{cmp.Or(i.Name, "(default)"), i.KubernetesVersion}} },
	}
	typeView = view[cloud.InstanceType]{
		columns: []string{"NAME", "CPUS", "MEMORY", "DISK"},
		rows: func(t cloud.InstanceType) [][]any {
			return [][]any{{t.Name, t.CPUs, quantity(t.MemoryBytes), disk(t.DiskBytes)}}
		},
		name: func(t cloud.InstanceType) string { return t.Name },
	}
	quotaView = view[cloud.Quota]{columns: []string{"RESOURCE", "USED", "LIMIT"}, rows: quotaRows}
)

func quotaRows(quota cloud.Quota) [][]any {
	limit := func(value int64, text string) string {
		if value == 0 {
			return "none"
		}
		return text
	}
	line := func(name string, used, most int) []any {
		return []any{name, used, limit(int64(most), strconv.Itoa(most))}
	}
	used, most := quota.Used, quota.Limits
	return [][]any{
		line("instances", used.Instances, most.Instances),
		line("cpus", used.CPUs, most.CPUs),
		{"memory", quantity(used.MemoryBytes), limit(most.MemoryBytes, quantity(most.MemoryBytes))},
		line("loadBalancers", used.LoadBalancers, most.LoadBalancers),
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func age(since time.Time) string { return duration.HumanDuration(time.Since(since)) }

func quantity(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

func disk(bytes int64) string {
	if bytes == 0 {
		return "unlimited"
	}
	return quantity(bytes)
}
