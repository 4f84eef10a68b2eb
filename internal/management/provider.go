// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// providerStopTimeout is short: a provider keeps all its state in the API server, so killing one
// that does not stop, for example after a failed start, loses nothing.
const providerStopTimeout = 3 * time.Second

// Provider is a Cluster API provider to run as a process.
type Provider struct {
	// Name of the process and of its log.
	Name string
	// Program is the path of the provider's manager.
	Program string
	// Components is the path of the YAML that its release installs. The process runs as its
	// ServiceAccount.
	Components string
	// ExtensionConfig is the path of the YAML that registers a runtime extension with Cluster API,
	// and Settings are its settings. It is empty for other providers.
	ExtensionConfig string
	Settings        map[string]string
	// Args are added to the flags that every provider understands: --kubeconfig, --health-addr,
	// --diagnostics-address, and, if it has webhooks, --webhook-port and --webhook-cert-dir.
	Args []string
}

// InstalledProvider is a provider whose components are in the management cluster, ready to start.
type InstalledProvider struct {
	cluster  *Cluster
	provider Provider
	process  supervisor.Process
	// url is the address of its webhooks and hooks, without a path.
	url string
}

// Install applies the provider's components and directs its webhooks to the process that Start will
// run.
func (c *Cluster) Install(ctx context.Context, provider Provider) (*InstalledProvider, error) {
	objects, err := readComponents(provider.Components)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(ctx, 3)
	if err != nil {
		return nil, err
	}
	health, diagnostics, webhook := ports[0], ports[1], ports[2]
	hasWebhooks, err := redirectAll(objects, webhookServer{url: secureURL(webhook), ca: c.authority.pem()})
	if err != nil {
		return nil, fmt.Errorf("install %s: %w", provider.Name, err)
	}
	dir := filepath.Join(c.options.Dir, provider.Name)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	args := append([]string{
		"--kubeconfig=" + kubeconfig, "--health-addr=" + hostPort(health), "--diagnostics-address=" + hostPort(diagnostics),
	}, provider.Args...)
	if hasWebhooks || provider.ExtensionConfig != "" {
		server, err := c.authority.server(provider.Name)
		if err != nil {
			return nil, err
		}
		if err := server.write(dir, "tls"); err != nil {
			return nil, err
		}
		args = append(args, "--webhook-port="+strconv.Itoa(webhook), "--webhook-cert-dir="+dir)
	}
	user, err := serviceAccountUser(objects)
	if err != nil {
		return nil, fmt.Errorf("install %s: %w", provider.Name, err)
	}
	if _, err := c.writeKubeconfig(kubeconfig, user); err != nil {
		return nil, err
	}
	if err := c.install(ctx, objects); err != nil {
		return nil, fmt.Errorf("install %s: %w", provider.Name, err)
	}
	return &InstalledProvider{cluster: c, provider: provider, url: secureURL(webhook), process: supervisor.Process{
		Name: provider.Name, Path: provider.Program, Args: args,
		Ready: probe(c.http, "http://"+hostPort(health)+"/readyz"), StopTimeout: providerStopTimeout,
	}}, nil
}

// Start runs the provider and returns once it and its webhooks are ready.
func (p *InstalledProvider) Start(ctx context.Context) error {
	return p.cluster.options.Supervisor.Start(ctx, p.process)
}

// redirectAll directs all webhooks to the server and reports whether there are any.
func redirectAll(objects []*unstructured.Unstructured, server webhookServer) (bool, error) {
	changed := 0
	for _, object := range objects {
		count, err := server.redirect(object)
		if err != nil {
			return false, err
		}
		changed += count
	}
	return changed > 0, nil
}
