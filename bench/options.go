// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

// Parts of the measurement.
const (
	partBare     = "bare"
	partFoo      = "foo"
	partInMemory = "inmemory"
	partMany     = "many"
	partMemory   = "memory"
	// partControlPlanes compares the two kinds of control plane.
	partControlPlanes = "control-planes"
	// partMachinePools compares a machine of a large pool with one of a small pool.
	partMachinePools = "machine-pools"
)

// allParts in the order in which they are measured.
var allParts = []string{partBare, partFoo, partInMemory, partMany, partMemory, partControlPlanes, partMachinePools}

// options are the user's choices.
type options struct {
	parts sets.Set[string]
	// runs of each of bare, foo and inmemory, of each kind of control plane, and of each size of pool.
	runs int
	// clusters at once, one measurement for each.
	clusters []int
	// machines of each compared control plane.
	machines int
	// pools are the sizes of the compared pools.
	pools []int
	// settle is how long memory waits after a cluster is available.
	settle time.Duration
	// idle is how long a cluster is left idle before its memory is read; its usage in that time is
	// the cost of an idle cluster.
	idle time.Duration
	// json is the path of a file for the results; none if empty.
	json string
	// binDir holds the programs as the Makefile builds them.
	binDir            string
	kubernetesVersion string
	// previousVersion is the version that control planes are rolled from.
	previousVersion           string
	stateDir, bridge, network string
	// timeout for each cluster, or number of clusters, to come up, and to be deleted.
	timeout time.Duration
}

// newCommand returns the command that runs with the options of its flags.
func newCommand(run func(context.Context, options) error) *cobra.Command {
	var chosen options
	var parts []string
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure Foo on this machine and compare it with alternatives",
		Long: `Measures how long a bare kubeadm init takes in an instance (bare), how long a cluster takes and where the time goes
(foo), the same of Cluster API's in-memory provider (inmemory), what clusters at once cost (many; with inmemory also how
long as many of its clusters take), how much memory a cluster needs (memory), what a FooControlPlane and a
KubeadmControlPlane take to make machines and to replace them (control-planes), and what a machine costs in a small and
in a large pool (machine-pools). Needs root and Linux. Run it in the root folder of the repository, with all programs
built.

Says on stderr what it does. Prints on stdout a line for each run, which benchstat reads, and tables. Exits with 1 if
something could not be measured or a machine of a large pool costs too much, and with 2 if nothing was started because
a flag is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := chosen.complete(parts); err != nil {
				return cli.Usage(command, err)
			}
			return run(command.Context(), chosen)
		},
	}
	flags := command.Flags()
	flags.StringSliceVar(&parts, "parts", allParts, "What to measure.")
	flags.IntVar(&chosen.runs, "runs", 3, "How often to measure bare, foo, inmemory, control-planes and machine-pools; the median counts.")
	flags.IntSliceVar(&chosen.clusters, "clusters", []int{1, 2, 5, 10}, "Numbers of simultaneous clusters that many measures.")
	flags.IntVar(&chosen.machines, "machines", 3, "Number of machines of the control planes that control-planes compares.")
	flags.IntSliceVar(&chosen.pools, "pools", []int{500, 2000}, "Sizes of the pools that machine-pools compares.")
	flags.DurationVar(&chosen.settle, "settle", time.Minute, "How long memory waits after a cluster is available before it is left idle.")
	flags.DurationVar(&chosen.idle, "idle", 30*time.Second, "How long memory leaves a cluster idle.")
	flags.StringVar(&chosen.json, "json", "", "File to also write the results to.")
	flags.StringVar(&chosen.binDir, "bin-dir", "bin", "Folder of the built programs.")
	flags.StringVar(&chosen.kubernetesVersion, "kubernetes-version", "v1.36.3", "Kubernetes version of all clusters.")
	flags.StringVar(&chosen.previousVersion, "previous-version", "v1.35.4", "Kubernetes version that control-planes rolls from.")
	flags.StringVar(&chosen.stateDir, "state-dir", "/var/lib/foo-bench", "Folder for all files; it is created and removed.")
	flags.StringVar(&chosen.bridge, "bridge", "foobench", "Name of the network interface through which this host reaches instances.")
	flags.StringVar(&chosen.network, "network", "10.93.0.0/16", "Network of the instances; nothing else may use it.")
	flags.DurationVar(&chosen.timeout, "timeout", 5*time.Minute, "How long clusters may take to come up, and to be deleted.")
	return cli.Root(command)
}

// complete validates the options and makes paths absolute.
func (o *options) complete(parts []string) error {
	o.parts = sets.New(parts...)
	if unknown := o.parts.Difference(sets.New(allParts...)); unknown.Len() > 0 {
		return fmt.Errorf("--parts has %s: want some of %s", strings.Join(sets.List(unknown), ","), strings.Join(allParts, ","))
	}
	if err := o.checkNumbers(); err != nil {
		return err
	}
	path, err := filepath.Abs(o.binDir)
	if err != nil {
		return err
	}
	o.binDir = path
	if _, err := os.Stat(filepath.Join(o.binDir, "foo")); err != nil {
		return fmt.Errorf("--bin-dir %s: %w; build the programs with: make programs", o.binDir, err)
	}
	return nil
}

func (o *options) checkNumbers() error {
	if len(o.clusters) == 0 || slices.Min(o.clusters) < 1 {
		return fmt.Errorf("--clusters %v: want numbers, 1 or more, for example 1,2,5,10", o.clusters)
	}
	if len(o.pools) == 0 || slices.Min(o.pools) < 1 {
		return fmt.Errorf("--pools %v: want numbers, 1 or more, for example 500,2000", o.pools)
	}
	if o.machines < 1 || o.machines%2 == 0 {
		return fmt.Errorf("--machines %d: want an odd number, for example 3", o.machines)
	}
	if o.runs < 1 {
		return fmt.Errorf("--runs %d: want 1 or more", o.runs)
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s: want more than zero, for example 5m", o.timeout)
	}
	return nil
}
