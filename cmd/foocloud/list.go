// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// filter selects objects to list.
type filter[T any] struct {
	cluster string
	tags    map[string]string
	// more are conditions that only some kinds have.
	more []func(T) bool
}

func (f *filter[T]) matches(r kind[T], item T) bool {
	tags := r.tags(item)
	if !tags.Contains(f.tags) {
		return false
	}
	if cluster := tags[ownertags.ClusterKey]; f.cluster != "" && cluster != f.cluster && !strings.HasSuffix(cluster, "/"+f.cluster) {
		return false
	}
	return !slices.ContainsFunc(f.more, func(matches func(T) bool) bool { return !matches(item) })
}

// newListCommand returns a command that lists objects and can watch them.
func newListCommand[T any](command *cobra.Command, r kind[T], more func(*cobra.Command, *connection, *filter[T])) *cobra.Command {
	l := &lister[T]{kind: r, printer: printer[T]{view: r.view}}
	l.connection.addFlags(command)
	l.connection.addTenantFlag(command)
	l.printer.addOutputFlag(command)
	flags := command.Flags()
	var watch bool
	flags.BoolVarP(&watch, "watch", "w", false, "then show every change until interrupted")
	flags.StringVar(&l.filter.cluster, "cluster", "", "only of this Cluster, as [NAMESPACE/]NAME")
	flags.StringToStringVar(&l.filter.tags, "tag", nil, "only with this tag, as KEY=VALUE; may be given more than once")
	mustComplete(command, "cluster", l.completeClusters)
	if more != nil {
		more(command, &l.connection, &l.filter)
	}
	command.Args = cobra.NoArgs
	command.RunE = l.printer.withCloud(&l.connection, func(command *cobra.Command, _ []string, cloud *client.Client) error {
		if watch {
			return l.watch(command, cloud)
		}
		_, err := l.list(command, cloud)
		return err
	})
	return command
}

// lister lists and watches objects of a kind.
type lister[T any] struct {
	kind       kind[T]
	connection connection
	printer    printer[T]
	filter     filter[T]
}

// list prints the selected objects and returns them.
func (l *lister[T]) list(command *cobra.Command, c *client.Client) ([]T, error) {
	all, err := l.kind.list(command.Context(), c)
	if err != nil {
		return nil, err
	}
	items := l.selected(all)
	if len(items) == 0 && (l.printer.format == formatTable || l.printer.format == formatWide) {
		command.PrintErrf("No %s found.\n", l.kind.plural)
		return nil, nil
	}
	return items, l.printer.print(command.OutOrStdout(), items, items...)
}

func (l *lister[T]) selected(items []T) []T {
	selected := make([]T, 0, len(items)) // so that JSON shows an empty list and not null
	for _, item := range items {
		if l.filter.matches(l.kind, item) {
			selected = append(selected, item)
		}
	}
	return selected
}

// retryInterval is the time between attempts to reach a cloud again.
const retryInterval = time.Second

// watch lists the objects, and then prints each object that changes. Once it has begun, it outlives
// restarts of the cloud.
func (l *lister[T]) watch(command *cobra.Command, c *client.Client) error {
	begun := false
	err := wait.PollUntilContextCancel(command.Context(), retryInterval, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		events, err := c.Watch(ctx)
		if err == nil {
			begun = true
			err = l.followAll(command, c, events)
		}
		if begun && cloud.IsUnavailable(err) {
			return false, nil
		}
		return false, err
	})
	return ignoreInterrupt(command.Context(), err)
}

// followAll follows events until the cloud ends them.
func (l *lister[T]) followAll(command *cobra.Command, c *client.Client, events <-chan cloud.Event) (err error) {
	var known []T
	for event := range events {
		if known, err = l.follow(command, c, known, event); err != nil {
			return err
		}
	}
	return nil
}

// follow prints the object of an event, says if it is gone, and lists all objects if some events may
// have been missed. It returns the selected objects. One that is not selected any more is printed once,
// with what it is now.
func (l *lister[T]) follow(command *cobra.Command, c *client.Client, known []T, event cloud.Event) ([]T, error) {
	if event.Kind == cloud.EventSynced {
		return l.list(command, c)
	}
	if event.Kind != l.kind.event {
		return known, nil
	}
	now, err := l.kind.list(command.Context(), c)
	if err != nil {
		return known, err
	}
	selected := l.selected(now)
	about := func(item T) bool { return l.kind.about(item, event) }
	was, is := slices.IndexFunc(known, about), slices.IndexFunc(now, about)
	switch {
	case is >= 0 && (was >= 0 || l.filter.matches(l.kind, now[is])):
		return selected, l.printer.print(command.OutOrStdout(), now[is], now[is])
	case is < 0 && was >= 0:
		command.PrintErrf("%s %s is gone.\n", l.kind.singular, label(l.kind.names(known[was])))
	}
	return selected, nil
}

// ignoreInterrupt returns nil for the error of a command that runs until it is interrupted.
func ignoreInterrupt(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func (l *lister[T]) completeClusters(command *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	items, err := listOf(command.Context(), &l.connection, l.kind.list)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	clusters := map[string]bool{}
	for _, item := range items {
		if cluster := l.kind.tags(item)[ownertags.ClusterKey]; cluster != "" {
			clusters[cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(clusters)), cobra.ShellCompDirectiveNoFileComp
}

// instanceStates are all states of an instance.
var instanceStates = []string{
	string(cloud.InstancePending), string(cloud.InstanceRunning), string(cloud.InstanceStopped), string(cloud.InstanceDeleting), string(cloud.InstanceFailed),
}

// addInstanceFilters adds the filters that only instances have.
func addInstanceFilters(command *cobra.Command, c *connection, f *filter[cloud.Instance]) {
	var zone, pool string
	var state stateFlag
	flags := command.Flags()
	flags.StringVar(&zone, "zone", "", "only in this zone")
	flags.StringVar(&pool, "pool", "", "only of this pool")
	flags.Var(&state, "state", "only in this state: "+strings.Join(instanceStates, ", "))
	f.more = append(f.more, func(i cloud.Instance) bool {
		return (zone == "" || i.Zone == zone) && (state == "" || string(i.State) == string(state)) &&
			(pool == "" || i.Pool == pool || withoutNamespace(i.Pool) == pool)
	})
	mustComplete(command, "state", cobra.FixedCompletions(instanceStates, cobra.ShellCompDirectiveNoFileComp))
	mustComplete(command, "pool", pools.complete(c, 0))
	mustComplete(command, "zone", func(command *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		zones, err := listOf(command.Context(), c, func(ctx context.Context, c *client.Client) ([]cloud.Zone, error) { return c.Zones(ctx) })
		names := make([]cobra.Completion, 0, len(zones))
		for _, zone := range zones {
			names = append(names, zone.Name)
		}
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// stateFlag is a state of an instance, in any case of letters.
type stateFlag string

// Set implements pflag.Value.
func (s *stateFlag) Set(text string) error {
	for _, state := range instanceStates {
		if strings.EqualFold(text, state) {
			*s = stateFlag(state)
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(instanceStates, ", "))
}

// Type implements pflag.Value.
func (s *stateFlag) Type() string { return "state" }

// String implements pflag.Value.
func (s *stateFlag) String() string { return string(*s) }
