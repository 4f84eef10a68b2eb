// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

func newImageCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "image", Short: "Load, list and delete the container images that instances pull from the cloud",
		Example: "  foocloud image load app.tar",
	}, newImageLoadCommand(), newShowCommand(&cobra.Command{
		Use: "list", Short: "List the loaded container images; foocloud images shows what instances can be created from", Example: "  foocloud image list -o name",
	}, containerImages.view, containerImages.list), newRemoveCommand(&cobra.Command{
		Use: "delete NAME...", Short: "Delete images; instances that already pulled them keep them",
		Example: "  foocloud image delete registry.example/app:v1",
	}, containerImages, func(ctx context.Context, c *client.Client, name string) error {
		return c.DeleteContainerImage(ctx, name)
	}, "deleted"))
}

var containerImages = kind[api.ContainerImage]{
	singular: "image", plural: "images",
	view: view[api.ContainerImage]{
		columns: []string{"NAME", "DIGEST", "SIZE"},
		rows: func(i api.ContainerImage) [][]any {
			return [][]any{{i.Name, i.Digest, fmt.Sprintf("%.1fMi", float64(i.SizeBytes)/(1<<20))}}
		},
		name: func(i api.ContainerImage) string { return i.Name },
	},
	list: func(ctx context.Context, c *client.Client) ([]api.ContainerImage, error) {
		return c.ListContainerImages(ctx)
	},
	names: func(i api.ContainerImage) []string { return []string{i.Name} },
}

func newImageLoadCommand() *cobra.Command {
	c := &connection{}
	var name string
	command := &cobra.Command{
		Use:     "load FILE",
		Short:   "Load images from a tar file of `docker save` or of an OCI image layout; - is the standard input",
		Example: "  foocloud image load app.tar\n  docker save registry.example/app:v1 | foocloud image load -",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			archive, err := openArchive(command, args[0])
			if err != nil {
				return cli.Usage(command, fmt.Errorf("load images: %w", err))
			}
			defer func() { _ = archive.Close() }()
			cloud, err := c.client()
			if err != nil {
				return err
			}
			loaded, err := cloud.LoadContainerImages(command.Context(), archive, name)
			if err != nil {
				return fmt.Errorf("load images from %s: %w", args[0], err)
			}
			for _, image := range loaded {
				if _, err := fmt.Fprintln(command.OutOrStdout(), "loaded", image.Name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.addFlags(command)
	command.Flags().StringVar(&name, "name", "", "name of the image; required if the archive names none, and overrides its name otherwise")
	return command
}

// openArchive opens an archive, or the standard input for -.
func openArchive(command *cobra.Command, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(command.InOrStdin()), nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, but must be a tar file; for a folder: tar c -C %s . | foocloud image load -", path, path)
	}
	return os.Open(path)
}
