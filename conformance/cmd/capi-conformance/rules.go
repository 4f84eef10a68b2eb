// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func newRulesCommand() *cobra.Command {
	var contract, level string
	var markdown bool
	command := &cobra.Command{
		Use:   "rules",
		Short: "List the rules of the contracts",
		Args:  arguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			rules, err := selected(contract, level)
			if err != nil {
				return err
			}
			if markdown {
				return conformance.WriteRules(command.OutOrStdout(), rules)
			}
			table := tabwriter.NewWriter(command.OutOrStdout(), 0, 8, 2, ' ', 0)
			lines := []string{"RULE\tMANDATORY\tFEATURE\tCONTRACTS\tLEVELS"}
			for _, rule := range rules {
				lines = append(lines, fmt.Sprintf("%s\t%t\t%s\t%s\t%s", rule.ID, rule.Mandatory, rule.Feature, strings.Join(rule.Versions, ","), join(rule.Levels)))
			}
			if _, err := fmt.Fprintln(table, strings.Join(lines, "\n")); err != nil {
				return err
			}
			return table.Flush()
		},
	}
	command.Flags().StringVar(&contract, "contract", "", "only rules of this contract, such as control-plane")
	command.Flags().StringVar(&level, "level", "", "only rules of this level: lint, behaviour or live")
	command.Flags().BoolVar(&markdown, "markdown", false, "write a page with all about the rules")
	return command
}

func selected(contract, level string) ([]conformance.Rule, error) {
	rules, err := conformance.Rules()
	if err != nil {
		return nil, err
	}
	levels := []conformance.Level{conformance.Lint, conformance.Behaviour, conformance.Live}
	if level != "" && !slices.Contains(levels, conformance.Level(level)) {
		return nil, usage(fmt.Errorf("--level is %q; allowed: %s", level, join(levels)))
	}
	var contracts []string
	found := slices.DeleteFunc(slices.Clone(rules), func(rule conformance.Rule) bool {
		if !slices.Contains(contracts, rule.Contract) {
			contracts = append(contracts, rule.Contract)
		}
		return contract != "" && rule.Contract != contract || level != "" && !rule.At(conformance.Level(level))
	})
	if contract != "" && !slices.Contains(contracts, contract) {
		return nil, usage(fmt.Errorf("--contract is %q; allowed: %s", contract, strings.Join(contracts, ", ")))
	}
	return found, nil
}

func join(levels []conformance.Level) string {
	names := make([]string, 0, len(levels))
	for _, level := range levels {
		names = append(names, string(level))
	}
	return strings.Join(names, ",")
}

func newExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain RULE",
		Short:   "Say what a rule demands, why, and how to meet it",
		Example: "  capi-conformance explain control-plane/kubeconfig",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(command *cobra.Command, args []string) error {
			rule, err := conformance.Find(args[0])
			if err != nil {
				return usage(err)
			}
			mandatory := "no, a recommendation"
			if rule.Mandatory {
				mandatory = "yes"
			}
			if rule.Feature != "" {
				mandatory += ", for providers that claim the feature " + rule.Feature
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "%s\n\n  %s\n\ncontract:  %s\n           %s\nmandatory: %s\nchecked:   %s\nimpact:    %s\nfix:       %s\n",
				rule.ID, rule.Sentence, strings.Join(rule.Versions, " and "), rule.URL, mandatory, join(rule.Levels), rule.Impact, rule.Fix)
			return err
		},
	}
}
