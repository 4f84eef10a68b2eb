// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart"
)

// Defaults of flags.
const (
	defaultVersion = "v1.36.3"
	defaultBridge  = "foo0"
	defaultNetwork = "10.77.0.0/16"
	defaultTimeout = 5 * time.Minute
	// quickstartState is not the folder of the commands for clusters that stay.
	quickstartState = "/var/lib/foo-quickstart"
)

// newQuickstartCommand returns the command that runs everything in the foreground.
func newQuickstartCommand() *cobra.Command {
	config := quickstart.Config{Namespace: "default", BinDir: cli.ProgramDir(), StateDir: quickstartState, WorkerMachineCount: 3}
	var detach bool
	command := &cobra.Command{
		Use:   "quickstart",
		Short: "Bring up a workload cluster, and delete it at the end",
		Long: `Start a management cluster, Cluster API, the kubeadm bootstrap provider, the Foo cloud and the Foo providers as
processes of this host, which create a workload cluster of real Kubernetes components. Needs root and Linux.

Stay up until Ctrl-C, and then delete everything that was created. A second Ctrl-C ends the command at once; foo
quickstart delete then deletes what is left.

Exit with 1 if something failed, with 2 if nothing was started because a flag is invalid or the host is not
suitable, and with 130 if it was interrupted before the cluster was available.`,
		Example: `  foo quickstart
  foo quickstart --control-plane-machine-count=3 --exit
  foo quickstart --management`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if config.Management && !config.Resume {
				setManagementDefaults(command, &config)
			}
			if err := config.Complete(command.Flags().Changed); err != nil {
				return err
			}
			if detach {
				return runDetached(command, config)
			}
			if config.Background { // the user may want to unmount or remove the current folder
				if err := os.Chdir("/"); err != nil {
					return err
				}
			}
			return quickstart.Run(command.Context(), config, os.Stdout)
		},
	}
	addFlags(command, &config)
	command.Flags().BoolVar(&detach, "detach", false, "return once the cluster is available, and leave everything running in the background until foo quickstart delete")
	command.MarkFlagsMutuallyExclusive("detach", "exit")
	flags := command.Flags()
	flags.BoolVar(&config.Background, "background", false, "")
	if err := flags.MarkHidden("background"); err != nil { // the flag exists
		command.PrintErrln(err)
	}
	command.AddCommand(newQuickstartDeleteCommand())
	return command
}

// setManagementDefaults sets what differs if the cluster is a management cluster.
func setManagementDefaults(command *cobra.Command, config *quickstart.Config) {
	if !command.Flags().Changed("cluster-name") {
		config.ClusterName = "hub"
	}
	if !command.Flags().Changed("worker-machine-count") {
		config.WorkerMachineCount = 1
	}
}

// runDetached runs the same command again, in the background.
func runDetached(command *cobra.Command, config quickstart.Config) error {
	arguments := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(argument string) bool {
		return argument == "--detach" || strings.HasPrefix(argument, "--detach=")
	})
	if err := quickstart.Detach(command.Context(), config, arguments, os.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(os.Stdout, "\nEverything keeps running. Delete it with: foo quickstart delete --state-dir=%s\n", config.StateDir)
	return err
}

func addFlags(command *cobra.Command, config *quickstart.Config) {
	addClusterFlags(command, config)
	addCloudFlags(command, config)
	flags := command.Flags()
	flags.StringVar(&config.ClusterName, "cluster-name", "demo", "name of the workload cluster")
	flags.StringVar(&config.Namespace, "namespace", config.Namespace, "namespace of the workload cluster's objects")
	addStateFlag(command, config)
	flags.IntVar(&config.ManagementPort, "management-port", 0, "port of the management API server on 127.0.0.1; any free one if 0")
	flags.BoolVar(&config.Keep, "keep", false, "keep the state folder and the cloud's instances at the end")
	flags.BoolVar(&config.Resume, "resume", false, "continue with a state folder that --keep kept, with the network, cluster and cloud configuration that it has")
	flags.BoolVar(&config.Exit, "exit", false, "delete everything and exit once the cluster is available")
	flags.BoolVar(&config.Management, "management", false,
		"make the cluster a management cluster, in which clusterctl installs all providers as Pods; by default, its name is hub and it has one worker machine")
	flags.BoolVar(&config.ManagementOnly, "management-only", false, "create no workload cluster; <state-dir>/env says how to reach the management cluster")
	flags.BoolVar(&config.Extension, "extension", false, "also run and register Foo's runtime extension, which answers Cluster API's lifecycle hooks")
	flags.StringToStringVar(&config.ExtensionSettings, "extension-settings", nil,
		"settings of the runtime extension, for example addons=Enabled,smokeChecks=Enabled; docs/runtime-extension.md lists all")
	flags.BoolVar(&config.KubeadmControlPlane, "kubeadm-control-plane", false, "also run Cluster API's own control plane provider, for clusters with a KubeadmControlPlane")
	flags.StringVar(&config.CloudListen, "cloud-listen", "", "additional address of the cloud, for example https://127.0.0.1:7443; <state-dir>/env names the certificate that verifies it")
	flags.StringVar(&config.UserNamespaces, "user-namespaces", "off", "whether the cloud's instances get user namespaces: off, auto or on; docs/isolation.md explains them")
	flags.BoolVar(&config.ManagerPerProvider, "manager-per-provider", false, "run Foo's control plane provider and infrastructure provider in separate managers, as clusterctl installs them")
}

// addClusterFlags adds the flags about the shape of a new cluster.
func addClusterFlags(command *cobra.Command, config *quickstart.Config) {
	flags := command.Flags()
	flags.StringVar(&config.KubernetesVersion, "kubernetes-version", defaultVersion, "Kubernetes version, which this release or build must have")
	flags.IntVar(&config.ControlPlaneMachineCount, "control-plane-machine-count", 1, "number of control plane machines, which must be odd")
	flags.IntVar(&config.WorkerMachineCount, "worker-machine-count", config.WorkerMachineCount, "number of worker machines")
}

// addCloudFlags adds the flags about the cloud, which is started with the management cluster.
func addCloudFlags(command *cobra.Command, config *quickstart.Config) {
	flags := command.Flags()
	flags.StringVar(&config.Bridge, "bridge", defaultBridge, "name of the network interface through which this host reaches instances")
	flags.StringVar(&config.Network, "network", defaultNetwork, "IPv4 network of the cloud's instances; nothing else on the host may use it")
	flags.StringVar(&config.CloudConfig, "cloud-config", "", "YAML file with the cloud's zones, instance types and tenants; all have defaults")
	flags.DurationVar(&config.Timeout, "timeout", defaultTimeout, "how long the programs may take to start, and then how long a cluster may take to become available")
}

// addSharedCloudFlags adds them to a command that uses the management cluster that there is, if any.
func addSharedCloudFlags(command *cobra.Command, config *quickstart.Config) {
	addCloudFlags(command, config)
	config.Given = command.Flags().Changed
	for flag, when := range map[string]string{
		"bridge": "for a new management cluster", "network": "for a new management cluster", "cloud-config": "for a management cluster that does not run",
	} {
		command.Flags().Lookup(flag).Usage += "; only " + when
	}
}

// newQuickstartDeleteCommand returns the command that removes what --keep or a killed quickstart left behind.
func newQuickstartDeleteCommand() *cobra.Command {
	config := quickstart.Config{BinDir: cli.ProgramDir(), StateDir: quickstartState}
	command := &cobra.Command{
		Use:     "delete",
		Short:   "Delete everything that a quick start left: programs, instances, networks and the state folder",
		Example: "  foo quickstart delete",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return quickstart.Remove(command.Context(), config, command.OutOrStdout())
		},
	}
	addStateFlag(command, &config)
	return command
}
