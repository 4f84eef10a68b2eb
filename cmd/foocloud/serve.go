// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/daemon"
)

func newServeCommand() *cobra.Command {
	var options daemon.Options
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run the cloud; instances and load balancers outlive it",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return daemon.Serve(command.Context(), options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.StateDir, "state-dir", "/var/lib/foocloud", "folder for all state; made when missing")
	flags.StringArrayVar(&options.Listen, "listen", nil,
		"unix:///path or https://address:port; may be given more than once (default unix://<state-dir>/foocloud.sock)")
	addNetworkFlags(flags, &options)
	addNodeFlags(flags, &options)
	flags.StringVar(&options.ImagesDir, "images-dir", "bin/kubernetes", "folder with one folder of node programs per Kubernetes version")
	flags.StringVar(&options.Config, "config", "", "YAML file with zones, instance types and tenants; has defaults for all")
	flags.BoolVar(&options.DNS, "dns", true, "answer instances that look up names, at port 53 of the network's first address")
	flags.Uint16Var(&options.RegistryPort, "registry-port", 5000,
		"where instances pull images from, at the network's first address; 0 for no registry")
	flags.StringVar(&options.UserNamespaces, "user-namespaces", daemon.UserNamespacesOff,
		"whether new instances have user namespaces, so that their root is nobody on this machine: off, auto (where this machine can give them) or on")
	flags.StringVar(&options.TLSCert, "tls-cert", "", "certificate file for https (default: self-signed, <state-dir>/tls.crt)")
	flags.StringVar(&options.TLSKey, "tls-key", "", "key file for https")
	return command
}

func addNetworkFlags(flags *pflag.FlagSet, options *daemon.Options) {
	flags.StringVar(&options.Bridge, "bridge", "foo0", "name of the bridge that instances are connected to")
	flags.StringVar(&options.Network, "network", "10.77.0.0/16", "IPv4 network of instances and load balancers")
}

// addNodeFlags adds the flags for the operating system, agent and OCI runtime of instances.
func addNodeFlags(flags *pflag.FlagSet, options *daemon.Options) {
	flags.StringVar(&options.SystemDir, "system-dir", "bin/system", "folder with the operating system of instances, which `make node` makes")
	flags.StringVar(&options.Agent, "agent", "bin/foonode", "the node agent's program")
	addRuntimeFlag(flags, &options.Runtime)
}

func addRuntimeFlag(flags *pflag.FlagSet, runtime *string) {
	flags.StringVar(runtime, "runtime", daemon.DefaultRuntime, "the OCI runtime that makes the containers of instances")
}

func newCheckCommand() *cobra.Command {
	var options daemon.Options
	command := &cobra.Command{
		Use:   "check",
		Short: "Say whether this machine can hold instances, and what it lacks if not; nothing is left of the check",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return daemon.CheckHost(command.Context(), options)
		},
	}
	command.Flags().StringVar(&options.StateDir, "state-dir", "/var/lib/foocloud", "the state folder that the cloud is to have; made when missing")
	addNetworkFlags(command.Flags(), &options)
	addNodeFlags(command.Flags(), &options)
	return command
}

func newDestroyCommand() *cobra.Command {
	var stateDir, runtime string
	command := &cobra.Command{
		Use:   "destroy",
		Short: "Remove all instances, load balancers, the bridge and the state of a cloud whose daemon does not run",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := daemon.Destroy(command.Context(), stateDir, runtime); err != nil {
				return err
			}
			_, err := fmt.Fprintln(command.OutOrStdout(), "nothing is left of", stateDir)
			return err
		},
	}
	command.Flags().StringVar(&stateDir, "state-dir", "/var/lib/foocloud", "the state folder of the cloud")
	addRuntimeFlag(command.Flags(), &runtime)
	return command
}
