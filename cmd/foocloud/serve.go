// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/daemon"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

func newServeCommand() *cobra.Command {
	var options daemon.Options
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run the cloud; instances and load balancers outlive it",
		Example: `  foocloud serve
  foocloud serve --listen=unix:///var/lib/foocloud/foocloud.sock --listen=https://192.0.2.10:7443`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return daemon.Serve(command.Context(), options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.StateDir, "state-dir", "/var/lib/foocloud", "folder for all state; created if missing")
	flags.StringArrayVar(&options.Listen, "listen", nil,
		"unix:///path or https://address:port; may be given more than once (default unix://<state-dir>/foocloud.sock)")
	addNetworkFlags(flags, &options)
	addNodeFlags(flags, &options)
	addPartFlag(flags, &options.ImagesDir, "images-dir", "kubernetes", "folder with one folder of node programs per Kubernetes version")
	addConfigFlag(flags, &options)
	flags.BoolVar(&options.DNS, "dns", true, "run a DNS server for instances at port 53 of the network's first address")
	flags.Uint16Var(&options.RegistryPort, "registry-port", 5000,
		"port of the registry that instances pull images from, at the network's first address; 0 for no registry")
	flags.IntVar(&options.ConcurrentBoots, "concurrent-boots", daemon.DefaultConcurrentBoots(),
		"how many instances may boot at the same time, while others wait; 0 for any number")
	flags.Lookup("concurrent-boots").DefValue = "two for each CPU, at least four"
	flags.StringVar(&options.UserNamespaces, "user-namespaces", daemon.UserNamespacesOff,
		"whether new instances have user namespaces, so that their root is unprivileged on this host: off, auto (if this host supports them) or on")
	flags.StringVar(&options.TLSCert, "tls-cert", "", "certificate file for https (default: self-signed, <state-dir>/tls.crt)")
	flags.StringVar(&options.TLSKey, "tls-key", "", "key file for https")
	return command
}

func addConfigFlag(flags *pflag.FlagSet, options *daemon.Options) {
	flags.StringVar(&options.Config, "config", "", "YAML file with zones, instance types and tenants; all have defaults")
}

func addNetworkFlags(flags *pflag.FlagSet, options *daemon.Options) {
	flags.StringVar(&options.Bridge, "bridge", "foo0", "name of the network interface through which this host reaches instances")
	flags.StringVar(&options.Network, "network", "10.77.0.0/16", "IPv4 network of instances and load balancers")
}

// addNodeFlags adds the flags for the operating system, agent and OCI runtime of instances.
func addNodeFlags(flags *pflag.FlagSet, options *daemon.Options) {
	addPartFlag(flags, &options.SystemDir, "system-dir", "system", "folder with the operating system of instances")
	addPartFlag(flags, &options.Agent, "agent", "foonode", "executable of the node agent")
	addRuntimeFlag(flags, &options.Runtime)
}

// addPartFlag adds a flag for a part of a release or build. By default, it is the one beside this program.
func addPartFlag(flags *pflag.FlagSet, path *string, flag, part, usage string) {
	flags.StringVar(path, flag, filepath.Join(cli.ProgramDir(), part), usage+" (default: "+part+", beside foocloud)")
	flags.Lookup(flag).DefValue = "" // the help is the same wherever foocloud is
}

func addRuntimeFlag(flags *pflag.FlagSet, runtime *string) {
	flags.StringVar(runtime, "runtime", daemon.DefaultRuntime, "OCI runtime that runs the containers of instances")
}

func newCheckCommand() *cobra.Command {
	var options daemon.Options
	command := &cobra.Command{
		Use:     "check",
		Short:   "Check whether this host can run instances, and report what it lacks; the check leaves nothing behind",
		Example: "  foocloud check",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return daemon.CheckHost(command.Context(), options)
		},
	}
	command.Flags().StringVar(&options.StateDir, "state-dir", "/var/lib/foocloud", "state folder that the cloud will use")
	command.Flags().BoolVar(&options.Restart, "restart", false, "check only what the cloud of the state folder needs to start again, without room for another cluster")
	addConfigFlag(command.Flags(), &options)
	addNetworkFlags(command.Flags(), &options)
	addNodeFlags(command.Flags(), &options)
	return command
}

func newDestroyCommand() *cobra.Command {
	var stateDir, runtime string
	var yes bool
	command := &cobra.Command{
		Use:     "destroy",
		Short:   "Remove all instances, load balancers, the network and the state of a cloud whose daemon is not running",
		Example: "  foocloud destroy\n  foocloud destroy --yes --state-dir=/var/lib/other",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if !yes {
				if err := confirm(command, "Remove all instances, load balancers and data of "+stateDir+"?"); err != nil {
					return err
				}
			}
			existed, err := daemon.Destroy(command.Context(), stateDir, runtime)
			if err != nil {
				return interrupted(err, "repeat it")
			}
			said := "removed everything of " + stateDir
			if !existed {
				said = "nothing to remove: there is no folder " + stateDir
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), said)
			return err
		},
	}
	command.Flags().StringVar(&stateDir, "state-dir", "/var/lib/foocloud", "state folder of the cloud")
	command.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	addRuntimeFlag(command.Flags(), &runtime)
	return command
}
