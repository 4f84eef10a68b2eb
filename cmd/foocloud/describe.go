// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// field is a line of a description. A field without a value is left out.
type field struct {
	name  string
	value any
}

// newDescribeCommand returns a command that shows everything about an object.
func newDescribeCommand[T any](k kind[T], example string, describe func(context.Context, *client.Client, T) ([]field, error)) *cobra.Command {
	c := &connection{}
	shown := k.view
	shown.name = nil
	p := &printer[T]{view: shown}
	command := &cobra.Command{
		Use: "describe NAME", Short: "Show everything about one " + k.singular, Example: example,
		Args: cobra.ExactArgs(1), ValidArgsFunction: k.complete(c, 1),
		RunE: p.withCloud(c, func(command *cobra.Command, args []string, cloud *client.Client) error {
			item, err := k.find(command.Context(), cloud, args[0])
			if err != nil {
				return err
			}
			if p.format != formatTable {
				return p.print(command.OutOrStdout(), item, item)
			}
			fields, err := describe(command.Context(), cloud, item)
			if err != nil {
				return err
			}
			return writeFields(command.OutOrStdout(), fields)
		}),
	}
	c.addFlags(command)
	c.addTenantFlag(command)
	p.addOutputFlag(command)
	return command
}

// writeFields writes one field per line. Further lines of a value stand below its first. Values come
// from instances too, so they must not control the terminal.
func writeFields(out io.Writer, fields []field) error {
	table := printers.GetNewTabWriter(out)
	for _, f := range fields {
		text := strings.TrimSpace(fmt.Sprint(f.value))
		if text == "" {
			continue
		}
		name := f.name + ":"
		for line := range strings.Lines(text) {
			if err := printers.WriteEscaped(table, name+"\t"+strings.TrimSuffix(line, "\n")+"\n"); err != nil {
				return err
			}
			name = ""
		}
	}
	return table.Flush()
}

func tagLines(tags cloud.Tags) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		_, _ = fmt.Fprintf(&text, "%s=%s\n", key, tags[key])
	}
	return text.String()
}

func newDescribeInstanceCommand() *cobra.Command {
	return newDescribeCommand(instances, "  foocloud instance describe demo-control-plane-x7k2p\n  foocloud instance describe demo-control-plane-x7k2p -o yaml",
		func(ctx context.Context, c *client.Client, i cloud.Instance) ([]field, error) {
			all, err := balancers.list(ctx, c)
			return []field{
				{"Name", i.Name}, {"ID", i.ID}, {"Provider ID", i.ProviderID}, {"Hostname", i.Hostname}, {"Address", i.Address},
				{"State", i.State}, {"Message", oneLine(i.Message)}, {"Bootstrap", i.Bootstrap.State}, {"Bootstrap message", i.Bootstrap.Message},
				{"Kubernetes version", i.KubernetesVersion}, {"Image", cmp.Or(i.Image, "(default)")}, {"Type", i.Type}, {"Disk", disk(i.DiskBytes)},
				{"Zone", i.Zone}, {"Pool", i.Pool}, {"Revision", i.Revision}, {"Load balancers", balancersOf(all, i)}, {"Draining", i.Draining},
				{"Interruptible", i.Interruptible}, {"Reclaimed at", timeOf(i.ReclaimAt)}, {"Created", timeOf(&i.CreatedAt)}, {"Tags", tagLines(i.Tags)},
			}, err
		})
}

// balancersOf names the load balancers of which the instance is a backend.
func balancersOf(all []cloud.LoadBalancer, i cloud.Instance) string {
	var names []string
	for _, balancer := range all {
		if slices.ContainsFunc(balancer.Backends, func(b cloud.Backend) bool { return b.InstanceID == i.ID }) {
			names = append(names, balancer.Name)
		}
	}
	return strings.Join(names, "\n")
}

// timeOf shows a time with its distance from now; nothing if it is nil.
func timeOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	if until := time.Until(*t); until > 0 {
		return fmt.Sprintf("%s (in %s)", t.Format(time.RFC3339), until.Round(time.Second))
	}
	return fmt.Sprintf("%s (%s ago)", t.Format(time.RFC3339), age(*t))
}

func newDescribePoolCommand() *cobra.Command {
	return newDescribeCommand(pools, "  foocloud pool describe demo-workers",
		func(ctx context.Context, c *client.Client, p cloud.Pool) ([]field, error) {
			members, err := c.ListInstances(ctx, cloud.InstanceFilter{Pool: p.Name})
			lines := make([]string, 0, len(members))
			for _, i := range members {
				lines = append(lines, fmt.Sprintf("%s  %s  %s  revision %s  %s", i.ID, i.Name, i.State, i.Revision, instanceMessage(i)))
			}
			template := p.Template
			return []field{
				{"Name", p.Name}, {"Size", p.Size}, {"Problem", problem(p)}, {"Deleting", p.Deleting}, {"Zones", zonesOf(p)}, {"Revision", p.Revision},
				{"Version", p.Version}, {"Kubernetes version", template.KubernetesVersion}, {"Image", cmp.Or(template.Image, "(default)")},
				{"Type", template.Type}, {"Interruptible", template.Interruptible}, {"Tags", tagLines(p.Tags)},
				{"Instances", strings.Join(lines, "\n")},
			}, err
		})
}

func newDescribeBalancerCommand() *cobra.Command {
	return newDescribeCommand(balancers, "  foocloud load-balancer describe demo",
		func(ctx context.Context, c *client.Client, b cloud.LoadBalancer) ([]field, error) {
			all, err := instances.list(ctx, c)
			return []field{
				{"Name", b.Name}, {"Address", fmt.Sprintf("%s:%d", b.Address, b.Port)}, {"Ready", b.Ready}, {"Message", oneLine(b.Message)},
				{"Target port", cmp.Or(b.TargetPort, b.Port)}, {"Selector", tagLines(b.Selector)}, {"Tags", tagLines(b.Tags)},
				{"Backends", backendLines(b, all)},
			}, err
		})
}

func backendLines(b cloud.LoadBalancer, all []cloud.Instance) string {
	var text strings.Builder
	for _, backend := range b.Backends {
		name, note := "", ""
		for _, i := range all {
			if i.ID == backend.InstanceID {
				name = i.Name
			}
		}
		if backend.Draining {
			note = "  draining"
		}
		_, _ = fmt.Fprintf(&text, "%s  %s  %s%s\n", backend.InstanceID, backend.Address, name, note)
	}
	return text.String()
}
