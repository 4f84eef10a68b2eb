// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// newConfig returns the configuration of commands about clusters.
func newConfig() quickstart.Config {
	return quickstart.Config{
		KubernetesVersion: defaultVersion, ClusterName: "demo", Namespace: metav1.NamespaceDefault, BinDir: cli.ProgramDir(),
		ControlPlaneMachineCount: 1, StateDir: quickstart.DefaultStateDir, Bridge: defaultBridge, Network: defaultNetwork, Timeout: defaultTimeout,
	}
}

// newClusterCommand completes a command about the cluster that its argument names.
func newClusterCommand(command *cobra.Command, config *quickstart.Config, run func(ctx context.Context, out io.Writer) error) *cobra.Command {
	addStateFlag(command, config)
	command.Flags().StringVarP(&config.Namespace, "namespace", "n", config.Namespace, "namespace of the cluster's objects in the management cluster")
	command.Args = cobra.ExactArgs(1)
	command.RunE = func(command *cobra.Command, args []string) error {
		config.ClusterName = args[0]
		return run(command.Context(), command.OutOrStdout())
	}
	command.ValidArgsFunction = func(command *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		clusters, err := quickstart.ListClusters(command.Context(), *config)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := make([]cobra.Completion, 0, len(clusters.Items))
		for _, cluster := range clusters.Items {
			names = append(names, cluster.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return command
}

func addStateFlag(command *cobra.Command, config *quickstart.Config) {
	command.Flags().StringVar(&config.StateDir, "state-dir", config.StateDir, "folder for all files, on ext4, xfs, btrfs or tmpfs")
}

func addKubeconfigFlag(command *cobra.Command, config *quickstart.Config) {
	command.Flags().StringVar(&config.Kubeconfig, "kubeconfig", "", "your kubeconfig (default: the files in KUBECONFIG, or ~/.kube/config of the user who runs sudo)")
}

func newCreateClusterCommand() *cobra.Command {
	config := newConfig()
	config.WorkerMachineCount = 1
	command := newClusterCommand(&cobra.Command{
		Use: "cluster NAME", Short: "Create a cluster, and make it the current context of kubectl",
		Long: `Create a cluster, and make it the current context of kubectl. The context's name is foo-NAME, or foo-NAME.NAMESPACE
if the namespace is not default.

The first cluster also starts a management cluster with Cluster API, the Foo cloud and the Foo providers in the
background. Further clusters share it. They all keep running when this command has ended.

A power failure can destroy the data of a cluster with the flavor fast, whose etcd does not sync to disk. Use
--flavor=default for data that you want to keep. Variables of the template, such as FOO_WORKER_INSTANCE_TYPE, come
from the environment.`,
		Example: `  foo create cluster demo
  foo create cluster demo --control-plane-machine-count=3 --worker-machine-count=3`,
	}, &config, func(ctx context.Context, out io.Writer) error {
		began := time.Now()
		files, err := quickstart.KubeconfigFiles(ctx, config.Kubeconfig)
		if err != nil {
			return err
		}
		// A cluster that cannot be added to it would be of little use.
		if err := quickstart.CheckKubeconfig(config, files); err != nil {
			return err
		}
		if err := quickstart.CreateCluster(ctx, config, out); err != nil {
			return err
		}
		if err := quickstart.AddKubeconfig(ctx, config, files, out); err != nil {
			return notAdded(ctx, config, err)
		}
		// The cluster is ready even if nobody reads this.
		_, _ = fmt.Fprintf(out, "\nCluster %s is ready after %s.\n\n  %s get nodes\n  %s\n",
			config.ClusterName, time.Since(began).Round(time.Second), config.KubectlCommand(), config.DeleteCommand())
		return nil
	})
	addKubeconfigFlag(command, &config)
	addClusterFlags(command, &config)
	command.Flags().StringVar(&config.Flavor, "flavor", flavors.Fast, "cluster template: fast, or default")
	addSharedCloudFlags(command, &config)
	return command
}

// notAdded is the error for a cluster that is ready, but could not be added to the user's kubeconfig. It
// wraps none, because some mean that nothing was done.
func notAdded(ctx context.Context, config quickstart.Config, err error) error {
	problem := err.Error()
	if ctx.Err() == nil {
		problem += "; solve that, and run: " + config.Command("kubeconfig")
	}
	return fmt.Errorf("cluster %s is ready, but not in your kubeconfig: %s", config.ClusterName, problem)
}

func newKubeconfigCommand() *cobra.Command {
	config := newConfig()
	var show bool
	command := newClusterCommand(&cobra.Command{
		Use: "kubeconfig NAME", Short: "Make a cluster the current context of kubectl",
		Example: "  foo kubeconfig demo\n  foo kubeconfig demo --print > demo.kubeconfig",
	}, &config, func(ctx context.Context, out io.Writer) error {
		if show {
			content, err := quickstart.Kubeconfig(ctx, config)
			if err != nil {
				return err
			}
			_, err = out.Write(content)
			return err
		}
		files, err := quickstart.KubeconfigFiles(ctx, config.Kubeconfig)
		if err != nil {
			return err
		}
		if err := quickstart.AddKubeconfig(ctx, config, files, out); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s get nodes\n", config.KubectlCommand())
		return err
	})
	addKubeconfigFlag(command, &config)
	command.Flags().BoolVar(&show, "print", false, "print the cluster's kubeconfig, which has the administrator's key, and do not change yours")
	return command
}

func newDeleteClusterCommand() *cobra.Command {
	config := newConfig()
	command := newClusterCommand(&cobra.Command{
		Use: "cluster NAME", Short: "Delete a cluster, and the management cluster with the last one",
		Long: `Delete a cluster and its context in your kubeconfig. With the last cluster, the management cluster and the cloud are
deleted too, unless the cloud still has instances, for example of clusters that were moved.

An interrupted command can be repeated.`,
		Example: "  foo delete cluster demo",
	}, &config, func(ctx context.Context, out io.Writer) error {
		files, err := quickstart.KubeconfigFiles(ctx, config.Kubeconfig)
		if err != nil {
			return err
		}
		if err := deleteCluster(ctx, config, files, out); err != nil {
			return err
		}
		if !config.KeepManagement {
			if err := removeUnused(ctx, config, out); err != nil {
				return err
			}
		}
		// It comes last, so that an interrupted command can be repeated.
		return quickstart.RemoveKubeconfig(ctx, config, files, out)
	})
	addKubeconfigFlag(command, &config)
	command.Flags().BoolVar(&config.KeepManagement, "keep-management", false, "keep the management cluster even if no cluster is left")
	return command
}

// deleteCluster deletes a cluster. It accepts one that an interrupted command has deleted, but not yet
// removed from the user's kubeconfig.
func deleteCluster(ctx context.Context, config quickstart.Config, files clientcmd.ConfigAccess, out io.Writer) error {
	err := quickstart.DeleteCluster(ctx, config, out)
	if !quickstart.IsMissing(err) {
		return err
	}
	if err := quickstart.AlreadyDeleted(config, files, err); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "Cluster %s was already deleted.\n", config.ClusterName)
	return nil
}

// removeUnused removes the management cluster if it has no clusters.
func removeUnused(ctx context.Context, config quickstart.Config, out io.Writer) error {
	removed, err := quickstart.RemoveUnused(ctx, config, out)
	if removed {
		_, _ = fmt.Fprintln(out, "It was the last cluster: the management cluster and the cloud are deleted too.")
	}
	if quickstart.IsInvalid(err) { // something has been done: the cluster is deleted
		return fmt.Errorf("cluster %s is deleted, but the management cluster is not: %s", config.ClusterName, err.Error())
	}
	return err
}

func newStartCommand() *cobra.Command {
	config := newConfig()
	command := &cobra.Command{
		Use: "start", Short: "Start the management cluster in the background", Example: "  foo start", Args: cobra.NoArgs,
		Long: `Start the management cluster in the background, unless it runs. If foo stop or a reboot ended it, it continues with its
clusters.`,
		RunE: func(command *cobra.Command, _ []string) error {
			return quickstart.Up(command.Context(), config, command.OutOrStdout())
		},
	}
	addStateFlag(command, &config)
	addSharedCloudFlags(command, &config)
	return command
}

func newStopCommand() *cobra.Command {
	config := newConfig()
	command := &cobra.Command{
		Use: "stop", Short: "Stop the management cluster; the clusters keep running", Example: "  foo stop", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return quickstart.Stop(command.Context(), config, command.OutOrStdout())
		},
	}
	addStateFlag(command, &config)
	return command
}

// clusterColumns are the columns of the table of clusters. Those with a priority are for wide tables.
var clusterColumns = []metav1.TableColumnDefinition{
	{Name: "Name"}, {Name: "Version"}, {Name: "Control-Plane"}, {Name: "Workers"}, {Name: "Status"}, {Name: "Available"}, {Name: "Age"},
	{Name: "Namespace", Priority: 1}, {Name: "Endpoint", Priority: 1}, {Name: "Context", Priority: 1},
}

func newGetClustersCommand() *cobra.Command {
	config := newConfig()
	var format string
	command := &cobra.Command{
		Use: "clusters", Short: "List the clusters", Example: "  foo get clusters\n  foo get clusters -o wide", Args: cobra.NoArgs,
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		printer, err := printerFor(format)
		if err != nil {
			return cli.Usage(command, err)
		}
		list, err := quickstart.ListClusters(command.Context(), config)
		if err != nil {
			return err
		}
		if len(list.Items) == 0 && (format == "" || format == "wide") {
			_, err := fmt.Fprintln(command.ErrOrStderr(), "No clusters found; create one with:", config.Command("create cluster"))
			return err
		}
		return printer.PrintObj(list, command.OutOrStdout())
	}
	addStateFlag(command, &config)
	command.Flags().StringVarP(&format, "output", "o", "", "output format: wide, json, yaml or name")
	formats := cobra.FixedCompletions([]cobra.Completion{"wide", "json", "yaml", "name"}, cobra.ShellCompDirectiveNoFileComp)
	if err := command.RegisterFlagCompletionFunc("output", formats); err != nil { // the flag exists
		command.PrintErrln(err)
	}
	return command
}

// printerFor returns the printer of a list of clusters.
func printerFor(format string) (printers.ResourcePrinter, error) {
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	typed := printers.NewTypeSetter(scheme)
	switch format {
	case "", "wide":
		table := printers.NewTablePrinter(printers.PrintOptions{Wide: format == "wide"})
		return clusterPrinter(func(list *clusterv1.ClusterList, out io.Writer) error { return table.PrintObj(tableOf(list), out) }), nil
	case "json":
		return typed.ToPrinter(&printers.JSONPrinter{}), nil
	case "yaml":
		return typed.ToPrinter(&printers.YAMLPrinter{}), nil
	case "name":
		return clusterPrinter(printNames), nil
	default:
		return nil, fmt.Errorf("--output %q: must be wide, json, yaml or name", format)
	}
}

// clusterPrinter returns a printer for lists of clusters alone. It writes a list in one call: in
// `foo get clusters | head -1`, head may end after the first line, and the next call would then end
// the program with SIGPIPE.
func clusterPrinter(show func(*clusterv1.ClusterList, io.Writer) error) printers.ResourcePrinter {
	return printers.ResourcePrinterFunc(func(object runtime.Object, out io.Writer) error {
		list, ok := object.(*clusterv1.ClusterList)
		if !ok {
			return fmt.Errorf("%T is no list of clusters", object)
		}
		var text bytes.Buffer
		if err := show(list, &text); err != nil {
			return err
		}
		_, err := text.WriteTo(out)
		return err
	})
}

func printNames(list *clusterv1.ClusterList, out io.Writer) error {
	for index := range list.Items {
		if _, err := fmt.Fprintln(out, list.Items[index].Name); err != nil {
			return err
		}
	}
	return nil
}

func versionOf(controlPlane clusterv1.ClusterControlPlaneStatus) string {
	names := make([]string, 0, len(controlPlane.Versions))
	for _, one := range controlPlane.Versions {
		names = append(names, one.Version)
	}
	return strings.Join(names, ",")
}

func tableOf(list *clusterv1.ClusterList) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: clusterColumns}
	ready := func(ready, wanted *int32) string {
		return fmt.Sprintf("%d/%d", ptr.Deref(ready, 0), ptr.Deref(wanted, 0))
	}
	for index := range list.Items {
		cluster := &list.Items[index]
		controlPlane, workers := ptr.Deref(cluster.Status.ControlPlane, clusterv1.ClusterControlPlaneStatus{}), ptr.Deref(cluster.Status.Workers, clusterv1.WorkersStatus{})
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			cluster.Name, versionOf(controlPlane), ready(controlPlane.ReadyReplicas, controlPlane.DesiredReplicas),
			ready(workers.ReadyReplicas, workers.DesiredReplicas), cluster.Status.Phase,
			conditions.IsTrue(cluster, clusterv1.ClusterAvailableCondition), duration.HumanDuration(time.Since(cluster.CreationTimestamp.Time)),
			cluster.Namespace, cluster.Spec.ControlPlaneEndpoint.String(), quickstart.ContextName(client.ObjectKeyFromObject(cluster)),
		}})
	}
	return table
}
