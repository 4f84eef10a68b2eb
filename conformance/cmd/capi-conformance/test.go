// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/behaviour"
)

func newTestCommand() *cobra.Command {
	flags := checkFlags{}
	var file, logs string
	var only []string
	var verbose bool
	live := liveFlags{}
	command := &cobra.Command{
		Use:   "test [--config FILE | --live --template FILE]",
		Short: "Run a provider's manager against a kube-apiserver, or create a cluster, and check what it does",
		Long: `Run a provider's manager against a kube-apiserver, and check what it does. With --live, create a
cluster from a template in a management cluster instead, scale it, replace its machines, upgrade,
move and delete it.

The configuration says how to start the manager and what its kinds need; the README of this module
explains it. KUBEBUILDER_ASSETS names a folder with kube-apiserver and etcd, as setup-envtest
prepares it. Go must be installed: Cluster API's CRDs come from its module.`,
		Example: `  KUBEBUILDER_ASSETS=$(setup-envtest use -p path) capi-conformance test --config conformance.yaml
  capi-conformance test --config conformance.yaml --contract-version v1beta2 --scenario '*pause*' --logs logs
  capi-conformance test --live --kubeconfig management.kubeconfig --template cluster-template.yaml`,
		Args: arguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			options := flags.options()
			if err := options.Validate(); err != nil {
				return usage(err)
			}
			progress := progress{command, verbose}
			switch {
			case live.live:
				checker, err := live.checker(progress)
				if err != nil {
					return usage(err)
				}
				options.Checkers = []conformance.Checker{checker}
			case live.template != "" || live.kubeconfig != "":
				return usage(errors.New("--template and --kubeconfig need --live"))
			default:
				checker, err := behaviourChecker(file, only)
				if err != nil {
					return usage(err)
				}
				checker.Folder, checker.Log = logs, progress.show
				options.Implementation = named(options.Implementation, checker.Config.Implementation)
				options.Checkers = []conformance.Checker{checker}
			}
			report, err := conformance.Check(command.Context(), options)
			if err != nil {
				return err
			}
			return flags.write(command, report)
		},
	}
	flags.add(command)
	live.add(command)
	command.Flags().StringVar(&file, "config", "conformance.yaml", "configuration of the provider")
	command.Flags().StringVar(&logs, "logs", "", "folder to keep the logs of the programs in; by default, they are deleted")
	command.Flags().StringArrayVar(&only, "scenario", nil, "pattern of the scenarios to run, such as '*pause*'; may be repeated; all by default")
	command.Flags().BoolVarP(&verbose, "verbose", "v", false, "show each scenario or step when it has ended, with how long it took")
	return command
}

// behaviourChecker returns the checker of a configuration.
func behaviourChecker(file string, scenarios []string) (*behaviour.Checker, error) {
	config, err := behaviour.LoadConfig(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	checker := &behaviour.Checker{Config: config, Scenarios: scenarios}
	if err := checker.Validate(); err != nil {
		return nil, fmt.Errorf("--scenario: %w", err)
	}
	return checker, nil
}

// progress shows messages, if the user wants them.
type progress struct {
	command *cobra.Command
	wanted  bool
}

func (p progress) show(message string) {
	if p.wanted {
		p.command.PrintErrln(message)
	}
}

// warn shows what the user must know.
func (p progress) warn(message string) { p.command.PrintErrln("Warning:", message) }

// named returns what the flags say about the implementation, or else the configuration.
func named(flags, config conformance.Implementation) conformance.Implementation {
	return conformance.Implementation{
		Name: cmp.Or(flags.Name, config.Name), Version: cmp.Or(flags.Version, config.Version), URL: cmp.Or(flags.URL, config.URL),
	}
}
