// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command store makes parts of the images that nodes have when they start. hack/build-store.sh
// calls it before and after containerd unpacks these images.
package main

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "store", SilenceUsage: true}
	root.AddCommand(imagesCommand(), databasesCommand())
	if root.Execute() != nil {
		os.Exit(1)
	}
}

func imagesCommand() *cobra.Command {
	var i images
	command := &cobra.Command{
		Use:   "images [VERSION...]",
		Short: "Write an archive with the images of these Kubernetes versions, under kubeadm's names, and additional images",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(command *cobra.Command, versions []string) error { return i.write(command.Context(), versions) },
	}
	flags := command.Flags()
	flags.StringVar(&i.architecture, "architecture", runtime.GOARCH, "Architecture of the images.")
	flags.StringVar(&i.kubernetes, "kubernetes", "bin/kubernetes", "Folder with the programs of each version.")
	flags.StringVar(&i.kubeadm, "kubeadm", "bin/kubernetes", "Folder with the same for this host's architecture.")
	flags.StringVar(&i.runtime, "runtime", "bin/runtime", "Folder with CoreDNS and flannel in each version.")
	flags.StringVar(&i.system, "system", "", "Folder with the operating system.")
	flags.StringVar(&i.output, "output", "", "Archive to write.")
	flags.StringSliceVar(&i.extra, "extra", nil, "Additional images to write.")
	return command
}

func databasesCommand() *cobra.Command {
	var from, to string
	command := &cobra.Command{
		Use:   "databases",
		Short: "Copy the databases of a containerd that has ended, so that they depend only on its images",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return copyDatabases(from, to) },
	}
	command.Flags().StringVar(&from, "from", "", "Root folder of a containerd that has ended.")
	command.Flags().StringVar(&to, "to", "", "Folder to write to, which becomes the root folder of another containerd.")
	return command
}
