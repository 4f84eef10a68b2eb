// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/behaviour"
)

func newTestCommand() *cobra.Command {
	flags := checkFlags{}
	var verbose bool
	here, live := behaviourFlags{}, liveFlags{}
	neverLive, onlyLive := here.flags(), live.flags()
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
			unfit := refuse(onlyLive, "needs --live")
			if live.live {
				unfit = refuse(neverLive, "cannot be combined with --live")
			}
			if unfit != nil {
				return usage(unfit)
			}
			if live.live {
				checker, err := live.checker(progress)
				if err != nil {
					return usage(err)
				}
				options.Checkers = []conformance.Checker{checker}
			} else {
				checker, err := here.checker(progress)
				if err != nil {
					return usage(err)
				}
				options.Implementation = named(options.Implementation, checker.Config.Implementation)
				options.Checkers = []conformance.Checker{checker}
			}
			return flags.report(command, options)
		},
	}
	flags.add(command)
	command.Flags().AddFlagSet(neverLive)
	command.Flags().AddFlagSet(onlyLive)
	command.Flags().BoolVar(&live.live, "live", false, "create a real cluster in a management cluster")
	command.Flags().BoolVarP(&verbose, "verbose", "v", false, "show each scenario or step when it has ended, with how long it took")
	return command
}

// refuse returns an error if one of the flags was given.
func refuse(flags *pflag.FlagSet, why string) error {
	var errs []error
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			errs = append(errs, fmt.Errorf("--%s %s", flag.Name, why))
		}
	})
	return errors.Join(errs...)
}

// behaviourFlags say how to check a provider here, without --live.
type behaviourFlags struct {
	config, logs string
	scenarios    []string
}

func (f *behaviourFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.config, "config", "conformance.yaml", "configuration of the provider")
	flags.StringVar(&f.logs, "logs", "", "folder to keep the logs of the programs in; by default, they are deleted")
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "pattern of the scenarios to run, such as '*pause*'; may be repeated; all by default")
	return flags
}

func (f *behaviourFlags) checker(progress progress) (*behaviour.Checker, error) {
	config, err := behaviour.LoadConfig(f.config)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	checker := &behaviour.Checker{Config: config, Folder: f.logs, Scenarios: f.scenarios, Log: progress.show}
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

// named returns what the flags say about the implementation, or else what was found about it.
func named(flags, found conformance.Implementation) conformance.Implementation {
	return conformance.Implementation{
		Name: cmp.Or(flags.Name, found.Name), Version: cmp.Or(flags.Version, found.Version), URL: cmp.Or(flags.URL, found.URL),
	}
}
