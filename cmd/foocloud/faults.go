// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

func newFaultsCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "faults", Short: "Inject faults: add, list and remove fault rules", Example: "  foocloud faults add full --kind=Stockout --zone=zone-a",
	}, newShowCommand(&cobra.Command{
		Use: "list", Short: "List the fault rules, including used-up ones", Example: "  foocloud faults list",
	}, faultRules.view, faultRules.list), newFaultsAddCommand(), newFaultsRemoveCommand())
}

var faultRules = kind[fault.Rule]{
	singular: "fault rule", plural: "fault rules",
	view: view[fault.Rule]{
		columns: []string{"TENANT", "NAME", "KIND", "POOL", "ZONE", "PROBABILITY", "SEED", "STRIKES", "DETAILS", "AGE"},
		rows:    func(r fault.Rule) [][]any { return [][]any{faultCells(r)} },
		name:    func(r fault.Rule) string { return r.Name },
	},
	list:  func(ctx context.Context, c *client.Client) ([]fault.Rule, error) { return c.ListFaults(ctx) },
	names: func(r fault.Rule) []string { return []string{r.Name} },
}

// durations holds the rule flags that are durations.
type durations struct {
	delay, notice, retryAfter time.Duration
}

func newFaultsAddCommand() *cobra.Command {
	c := &connection{}
	p := &printer[fault.Rule]{view: faultRules.view}
	var spec fault.Spec
	var times durations
	command := &cobra.Command{
		Use:     "add NAME --kind=KIND",
		Short:   "Add a fault rule, or replace the rule with the same name",
		Example: "  foocloud faults add full --kind=Stockout --zone=zone-a\n  foocloud faults add flaky --kind=ServerError --probability=0.2",
		Args:    cobra.ExactArgs(1),
	}
	addFaultFlags(command, &spec, &times)
	c.addFlags(command)
	p.addOutputFlag(command)
	command.RunE = p.withCloud(c, func(command *cobra.Command, args []string, cloud *client.Client) error {
		spec.Name = args[0]
		spec.DelaySeconds, spec.NoticeSeconds = times.delay.Seconds(), times.notice.Seconds()
		spec.RetryAfterSeconds = times.retryAfter.Seconds()
		rule, err := cloud.EnsureFault(command.Context(), spec)
		if err != nil {
			return err
		}
		return p.print(command.OutOrStdout(), []fault.Rule{rule}, rule)
	})
	return command
}

func addFaultFlags(command *cobra.Command, spec *fault.Spec, times *durations) {
	kinds := make([]string, 0, len(fault.Kinds()))
	for _, kind := range fault.Kinds() {
		kinds = append(kinds, string(kind))
	}
	flags := command.Flags()
	flags.StringVar((*string)(&spec.Kind), "kind", "", "kind of fault: "+strings.Join(kinds, ", "))
	mustComplete(command, "kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&spec.Tenant, "tenant", "", "affected tenant (default: the token's tenant; * for all, over the unix socket only)")
	flags.StringVar(&spec.Pool, "pool", "", "affect only instances of this pool")
	flags.StringVar(&spec.Zone, "zone", "", "affect only instances of this zone")
	flags.Float64Var(&spec.Probability, "probability", 0, "probability each time, more than 0 and at most 1 (default 1)")
	flags.Int64Var(&spec.Seed, "seed", 0, "the same seed gives the same faults (default: the cloud chooses)")
	flags.IntVar(&spec.Count, "count", 0, "maximum number of times that it happens (default: no limit)")
	flags.DurationVar(&times.delay, "delay", 0, "SlowBoot, APILatency: additional time; LostInstance, StoppedInstance, SpotReclaim: how long the instance runs before the fault")
	flags.DurationVar(&times.notice, "notice", 0, "SpotReclaim: time from the notice to the reclaim (default 30s)")
	flags.DurationVar(&times.retryAfter, "retry-after", 0, "Throttling: how long callers are told to wait (default 1s)")
	flags.StringVar((*string)(&spec.AfterOutage), "after-outage", "", "ZoneOutage: what happens to the stopped instances when the rule is removed: StartAgain or StayStopped (the default)")
	flags.IntVar(&spec.Status, "status", 0, "ServerError: 500, 502, 503 or 504 (default 503)")
}

func newFaultsRemoveCommand() *cobra.Command {
	var tenant string
	command := newRemoveCommand(&cobra.Command{
		Use: "remove NAME...", Short: "Remove fault rules; their effects are not undone", Example: "  foocloud faults remove full flaky",
	}, faultRules, func(ctx context.Context, c *client.Client, name string) error {
		return c.RemoveFault(ctx, tenant, name)
	}, "removed")
	command.Flags().StringVar(&tenant, "tenant", "", "tenant of the rules (default: the token's; * for rules that affect all tenants)")
	return command
}

func faultCells(r fault.Rule) []any {
	strikes := strconv.Itoa(r.Strikes)
	if r.Count > 0 {
		strikes += " of " + strconv.Itoa(r.Count)
	}
	probability := ""
	if r.Probability > 0 {
		probability = strconv.FormatFloat(r.Probability, 'g', -1, 64)
	}
	return []any{r.Tenant, r.Name, r.Kind, r.Pool, r.Zone, probability, r.Seed, strikes, faultDetails(r.Spec), age(r.CreatedAt)}
}

// faultDetails formats the settings that only some fault kinds have.
func faultDetails(spec fault.Spec) string {
	var details []string
	for _, time := range []struct {
		name    string
		seconds float64
	}{
		{"delay", spec.DelaySeconds}, {"notice", spec.NoticeSeconds}, {"retry-after", spec.RetryAfterSeconds},
	} {
		if time.seconds > 0 {
			details = append(details, fmt.Sprintf("%s=%gs", time.name, time.seconds))
		}
	}
	if spec.Status > 0 {
		details = append(details, fmt.Sprintf("status=%d", spec.Status))
	}
	if spec.AfterOutage != "" {
		details = append(details, "after-outage="+string(spec.AfterOutage))
	}
	return strings.Join(details, " ")
}
