// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/daemon"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

const (
	envPrefix   = "FOO_CLOUD_"
	endpointEnv = envPrefix + "ENDPOINT"
	fileEnv     = envPrefix + "TOKEN_FILE"
	caFileEnv   = envPrefix + "CA_FILE"
	// caEnv is the variable that the infrastructure provider's manifests expect.
	caEnv = envPrefix + "CA_B64"

	defaultStateDir = "/var/lib/foocloud"
)

// connection holds a command's connection flags.
type connection struct {
	command *cobra.Command
	options client.Options
	// viewer chooses the token for calls that change nothing, which the cloud keeps next to the
	// other one.
	viewer bool
}

func (c *connection) addFlags(command *cobra.Command) {
	c.command = command
	flags := command.Flags()
	flags.StringVar(&c.options.Endpoint, "endpoint", env(endpointEnv, daemon.DefaultEndpoint(defaultStateDir)),
		"unix:///path or https://address:port of the cloud; also "+endpointEnv)
	flags.StringVar(&c.options.TokenFile, "token-file", env(fileEnv, daemon.TokenFile(defaultStateDir)),
		"file with the tenant's token; also "+fileEnv)
	flags.StringVar(&c.options.CAFile, "ca-file", os.Getenv(caFileEnv), "certificates to verify an https endpoint with; also "+caFileEnv+", or "+caEnv+" with the certificates themselves, base64-encoded")
}

// addTenantFlag adds the flag that chooses the tenant.
func (c *connection) addTenantFlag(command *cobra.Command) {
	command.Flags().StringVar(&c.options.Tenant, "tenant", "",
		"act as this tenant (default: the token's), with the token that the cloud generated for it unless --token-file is given")
}

// tenantToken returns the file with the token that the cloud generated for a tenant, beside the one of
// the default tenant. It returns the chosen file if that is the tenant's.
func (c *connection) tenantToken() string {
	chosen, tenant := c.options.TokenFile, c.options.Tenant
	if tenant == "" || tenant == config.DefaultTenant || c.command.Flags().Changed("token-file") {
		return chosen
	}
	generated := filepath.Join(filepath.Dir(chosen), filepath.Base(daemon.TokenFile("/"))+"-"+tenant)
	if _, err := os.Stat(generated); err != nil && os.Getenv(fileEnv) != "" {
		return chosen
	}
	return generated
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// client returns a client, or a usage error if the flags are wrong.
func (c *connection) client() (*client.Client, error) {
	if c.options.CAFile == "" {
		certificates, err := base64.StdEncoding.DecodeString(os.Getenv(caEnv))
		if err != nil {
			return nil, cli.Usage(c.command, fmt.Errorf("%s: must be certificates, base64-encoded: %w", caEnv, err))
		}
		c.options.CA = certificates
	}
	c.options.TokenFile = c.tenantToken()
	if c.viewer {
		c.options.TokenFile = daemon.ViewerTokenFile(c.options.TokenFile)
	}
	made, err := client.NewClient(c.options)
	return made, cli.Usage(c.command, err)
}
