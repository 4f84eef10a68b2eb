// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command conformance runs Kubernetes' own conformance tests on a cluster of Foo, stores the result
// of each, and writes the report in docs/conformance. build.sh builds the
// unmodified tests from the module of Kubernetes (see the folder suite), and the programs of the
// images that they use. The images are built from these programs and from Debian packages, and have
// the names of the originals.
//
// Limits: the images are not the originals, and all nodes are on one machine. The results describe
// how Foo's clusters behave. They are not a certification.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

func main() {
	os.Exit(cli.Main(newCommand(), cli.IsUsage))
}

func newCommand() *cobra.Command {
	return cli.Root(cli.Group(&cobra.Command{Use: "conformance", Short: "Run Kubernetes' conformance tests on a cluster of Foo"},
		newImagesCommand(), newRunCommand(), newReportCommand()))
}

func newImagesCommand() *cobra.Command {
	var i images
	command := &cobra.Command{
		Use: "images", Short: "Write an archive with the images that the tests use", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return i.write(command.Context()) },
	}
	command.Flags().StringVar(&i.system, "system", "bin/conformance/system.tar", "Operating system that hack/build-system.sh built from packages.txt.")
	command.Flags().StringVar(&i.programs, "programs", "bin/conformance/programs", "Folder of the programs.")
	command.Flags().StringVar(&i.output, "output", "bin/conformance/images.tar", "Archive to write.")
	return command
}

func newRunCommand() *cobra.Command {
	var r run
	command := &cobra.Command{
		Use:   "run",
		Short: "Run tests and store their results",
		Long: `Creates a cluster with one control plane machine and two workers, loads the images, runs the tests, and deletes the cluster. If a
quickstart already runs in the state folder, its cluster is used and kept.

Each test that has failed runs once more at the end, alone. The last result of a test counts; all are kept. Exits with 1 unless all
selected tests have passed.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return r.do(command) },
	}
	flags := command.Flags()
	flags.StringVar(&r.focus, "focus", "", "Run only tests whose names match this regular expression.")
	flags.StringVar(&r.list, "tests", "", "Run only the tests in this file, one name per line.")
	flags.StringVar(&r.shard, "shard", "", "Run only one part of all tests: 2/4 is the second of four.")
	flags.BoolVar(&r.resume, "resume", true, "Skip tests that have passed before.")
	flags.IntVar(&r.processes, "processes", 2, "How many tests run at once; serial tests always run alone.")
	flags.BoolVar(&r.dryRun, "dry-run", false, "Only list the tests that would run.")
	flags.StringVar(&r.bin, "bin", "bin", "Folder of the programs.")
	flags.StringVar(&r.results, "results", "bin/conformance/results", "Folder for the results.")
	flags.StringVar(&r.stateDir, "state-dir", "/var/lib/foo-conformance", "Folder for the cluster, on a disk file system.")
	flags.StringVar(&r.bridge, "bridge", "foocnf", "Name of the network bridge of the cloud's instances.")
	flags.StringVar(&r.network, "network", "10.94.0.0/16", "Network of the cloud's instances; nothing else on the host may use it.")
	return command
}

func newReportCommand() *cobra.Command {
	var r report
	command := &cobra.Command{
		Use: "report", Short: "Write the report on the results", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return r.write(command.Context()) },
	}
	command.Flags().StringVar(&r.bin, "bin", "bin", "Folder of the programs.")
	command.Flags().StringVar(&r.results, "results", "bin/conformance/results", "Folder of the results.")
	command.Flags().StringVar(&r.causes, "causes", "test/conformance/causes.yaml", "Known causes of failures by test name.")
	command.Flags().StringVar(&r.output, "output", "docs/conformance", "Folder for the report.")
	return command
}
