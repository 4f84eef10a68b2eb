// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

func newShowCommands() []*cobra.Command {
	return []*cobra.Command{
		newTableCommand(&cobra.Command{Use: "instances", Short: "List the instances"},
			func(ctx context.Context, c *client.Client) ([]cloud.Instance, error) {
				return c.ListInstances(ctx, cloud.InstanceFilter{})
			}, showInstances),
		newTableCommand(&cobra.Command{Use: "pools", Short: "List the instance pools"},
			func(ctx context.Context, c *client.Client) ([]cloud.Pool, error) { return c.ListPools(ctx, nil) }, showPools),
		newTableCommand(&cobra.Command{Use: "load-balancers", Short: "List the load balancers"},
			func(ctx context.Context, c *client.Client) ([]cloud.LoadBalancer, error) {
				return c.ListLoadBalancers(ctx, nil)
			}, showBalancers),
		newTableCommand(&cobra.Command{Use: "quota", Short: "Show the limits and their usage"},
			func(ctx context.Context, c *client.Client) (cloud.Quota, error) { return c.Quota(ctx) }, showQuota),
		newTableCommand(&cobra.Command{Use: "zones", Short: "List the zones"},
			func(ctx context.Context, c *client.Client) ([]cloud.Zone, error) { return c.Zones(ctx) }, showZones),
		newTableCommand(&cobra.Command{Use: "images", Short: "List the images that instances can be created from"},
			func(ctx context.Context, c *client.Client) ([]cloud.Image, error) { return c.Images(ctx) }, showImages),
		newTableCommand(&cobra.Command{Use: "instance-types", Short: "List the sizes of instances"},
			func(ctx context.Context, c *client.Client) ([]cloud.InstanceType, error) { return c.InstanceTypes(ctx) }, showTypes),
		newLogsCommand(),
	}
}

func showInstances(instances []cloud.Instance) table {
	t := table{header: []string{"ID", "NAME", "STATE", "BOOTSTRAP", "ADDRESS", "ZONE", "TYPE", "DISK", "VERSION", "IMAGE", "POOL", "AGE", "MESSAGE"}}
	for _, i := range instances {
		message := cmp.Or(i.Message, i.Bootstrap.Message)
		if i.ReclaimAt != nil {
			message = "will be reclaimed at " + i.ReclaimAt.Format(time.RFC3339)
		}
		t.rows = append(t.rows, []string{
			i.ID, i.Name, string(i.State), string(i.Bootstrap.State), i.Address, i.Zone, i.Type, disk(i.DiskBytes), i.KubernetesVersion,
			i.Image, i.Pool, duration.HumanDuration(time.Since(i.CreatedAt)), oneLine(message),
		})
	}
	return t
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func showPools(pools []cloud.Pool) table {
	t := table{header: []string{"NAME", "SIZE", "INSTANCES", "TYPE", "VERSION", "REVISION", "DELETING", "PROBLEM"}}
	for _, p := range pools {
		problem := ""
		if p.Problem != nil {
			problem = string(p.Problem.Reason) + ": " + oneLine(p.Problem.Message)
		}
		t.rows = append(t.rows, []string{
			p.Name, number(p.Size), number(p.Instances), p.Template.Type, p.Template.KubernetesVersion, p.Revision,
			strconv.FormatBool(p.Deleting), problem,
		})
	}
	return t
}

func showBalancers(balancers []cloud.LoadBalancer) table {
	t := table{header: []string{"NAME", "ADDRESS", "PORT", "READY", "BACKENDS", "MESSAGE"}}
	for _, b := range balancers {
		backends := make([]string, 0, len(b.Backends))
		for _, backend := range b.Backends {
			backends = append(backends, backend.InstanceID+"="+backend.Address)
		}
		t.rows = append(t.rows, []string{
			b.Name, b.Address, number(b.Port), strconv.FormatBool(b.Ready), strings.Join(backends, ","), oneLine(b.Message),
		})
	}
	return t
}

func showQuota(quota cloud.Quota) table {
	limit := func(value int64, text string) string {
		if value == 0 {
			return "none"
		}
		return text
	}
	line := func(name string, used, most int) []string {
		return []string{name, strconv.Itoa(used), limit(int64(most), strconv.Itoa(most))}
	}
	used, most := quota.Used, quota.Limits
	return table{header: []string{"RESOURCE", "USED", "LIMIT"}, rows: [][]string{
		line("instances", used.Instances, most.Instances),
		line("cpus", used.CPUs, most.CPUs),
		{"memory", quantity(used.MemoryBytes), limit(most.MemoryBytes, quantity(most.MemoryBytes))},
		line("loadBalancers", used.LoadBalancers, most.LoadBalancers),
	}}
}

func showZones(zones []cloud.Zone) table {
	t := table{header: []string{"NAME", "CONTROL-PLANE"}}
	for _, zone := range zones {
		t.rows = append(t.rows, []string{zone.Name, strconv.FormatBool(zone.ControlPlane)})
	}
	return t
}

func showImages(images []cloud.Image) table {
	t := table{header: []string{"NAME", "KUBERNETES-VERSION"}}
	for _, image := range images {
		t.rows = append(t.rows, []string{cmp.Or(image.Name, "(default)"), image.KubernetesVersion})
	}
	return t
}

func showTypes(types []cloud.InstanceType) table {
	t := table{header: []string{"NAME", "CPUS", "MEMORY", "DISK"}}
	for _, kind := range types {
		t.rows = append(t.rows, []string{
			kind.Name, strconv.Itoa(kind.CPUs), quantity(kind.MemoryBytes), disk(kind.DiskBytes),
		})
	}
	return t
}

func quantity(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

func disk(bytes int64) string {
	if bytes == 0 {
		return "unlimited"
	}
	return quantity(bytes)
}

func number(value int32) string { return fmt.Sprint(value) }
