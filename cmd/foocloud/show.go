// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/daemon"
)

const (
	envPrefix   = "FOO_CLOUD_"
	endpointEnv = envPrefix + "ENDPOINT"
	fileEnv     = envPrefix + "TOKEN_FILE"
	caFileEnv   = envPrefix + "CA_FILE"
	// caEnv is the variable that the infrastructure provider's manifests expect.
	caEnv = envPrefix + "CA_B64"

	defaultStateDir = "/var/lib/foocloud"

	columnGap = 3
)

// connection holds a command's connection flags and its output format.
type connection struct {
	options client.Options
	output  string
}

func (c *connection) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&c.options.Endpoint, "endpoint", env(endpointEnv, daemon.DefaultEndpoint(defaultStateDir)),
		"unix:///path or https://address:port of the cloud; also "+endpointEnv)
	flags.StringVar(&c.options.TokenFile, "token-file", env(fileEnv, daemon.TokenFile(defaultStateDir)),
		"file with the tenant's token; also "+fileEnv)
	flags.StringVar(&c.options.CAFile, "ca-file", os.Getenv(caFileEnv), "certificates to verify an https endpoint with; also "+caFileEnv+", or "+caEnv+" with the certificates themselves, base64-encoded")
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func (c *connection) client() (*client.Client, error) {
	if c.options.CAFile == "" {
		certificates, err := base64.StdEncoding.DecodeString(os.Getenv(caEnv))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", caEnv, err)
		}
		c.options.CA = certificates
	}
	return client.NewClient(c.options)
}

type table struct {
	header []string
	rows   [][]string
}

// newTableCommand returns a command that fetches something and shows it, as a table or as JSON.
func newTableCommand[T any](command *cobra.Command, fetch func(context.Context, *client.Client) (T, error), show func(T) table) *cobra.Command {
	c := &connection{}
	c.addFlags(command)
	command.Flags().StringVarP(&c.output, "output", "o", "table", "table or json")
	command.Args = cobra.NoArgs
	command.RunE = func(command *cobra.Command, _ []string) error {
		if c.output != "table" && c.output != "json" {
			return fmt.Errorf("--output %q: want table or json", c.output)
		}
		cloud, err := c.client()
		if err != nil {
			return err
		}
		value, err := fetch(command.Context(), cloud)
		if err != nil {
			return err
		}
		if c.output == "json" {
			encoder := json.NewEncoder(command.OutOrStdout())
			encoder.SetIndent("", "  ")
			return encoder.Encode(value)
		}
		return show(value).write(command.OutOrStdout())
	}
	return command
}

func (t table) write(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, columnGap, ' ', 0)
	for _, row := range append([][]string{t.header}, t.rows...) {
		if _, err := fmt.Fprintln(out, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return out.Flush()
}

func newLogsCommand() *cobra.Command {
	c := &connection{}
	var options client.LogOptions
	var kubelet bool
	command := &cobra.Command{
		Use:   "logs ID",
		Short: "Show the output of an instance's first process and of its bootstrap commands",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if kubelet {
				options.Source = "kubelet"
			}
			cloud, err := c.client()
			if err != nil {
				return err
			}
			log, err := cloud.Log(command.Context(), args[0], options)
			if err != nil {
				return err
			}
			defer func() { _ = log.Close() }()
			if _, err := io.Copy(command.OutOrStdout(), log); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("read the log: %w", err)
			}
			return nil
		},
	}
	c.addFlags(command)
	command.Flags().BoolVarP(&options.Follow, "follow", "f", false, "wait for more output until interrupted")
	command.Flags().BoolVar(&kubelet, "kubelet", false, "show the kubelet's log instead")
	return command
}
