// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capfoo/cluster-api-provider-foo/conformance/live"
)

// liveFlags say how to check a provider with a real cluster.
type liveFlags struct {
	live                                     bool
	template, kubeconfig, context, namespace string
	topology, providers                      []string
	hooksAddress                             string
	upgradeTo                                string
	releases                                 live.Releases
	patience                                 time.Duration
}

// flags returns the flags that need --live.
func (f *liveFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.template, "template", "", "cluster template for --live, without a managed topology; the environment has the values of its variables")
	flags.StringSliceVar(&f.topology, "topology-template", nil, "cluster template with a managed topology, and its ClusterClass, to look at the hooks of extensions with --live; none by default")
	flags.StringVar(&f.hooksAddress, "hooks-address", "", "HOST:PORT of this machine that the management cluster reaches, to look at updates in place with --live; none by default")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster for --live; kubectl's by default")
	flags.StringVar(&f.context, "context", "", "context in the kubeconfig")
	flags.StringVar(&f.namespace, "namespace", "capi-conformance", "namespace that --live creates for the cluster, and deletes")
	flags.StringSliceVar(&f.providers, "provider", nil, "label cluster.x-k8s.io/provider of the kinds that --live checks, such as infrastructure-foo; all by default")
	flags.StringToStringVar(&f.releases.Versions, "release", nil,
		"releases, such as infrastructure-foo=v0.2.0, that clusterctl installs and removes with --live; by default, the providers must be there")
	flags.StringToStringVar(&f.releases.Previous, "previous-release", nil, "older releases, which clusterctl upgrades to those of --release while a cluster exists; none by default")
	flags.StringVar(&f.releases.Config, "clusterctl-config", "", "clusterctl's configuration for --release, with the repositories of the providers and the values of their variables")
	flags.StringVar(&f.releases.Program, "clusterctl", "clusterctl", "the program for --release")
	flags.StringVar(&f.upgradeTo, "upgrade-to", "", "version of Kubernetes to upgrade the control plane to with --live; none by default")
	flags.DurationVar(&f.patience, "patience", 15*time.Minute, "how long the cluster may take after each change with --live")
	return flags
}

func (f *liveFlags) checker(progress progress) (*live.Checker, error) {
	if f.template == "" {
		return nil, errors.New("--live needs --template FILE")
	}
	if f.patience <= 0 {
		return nil, fmt.Errorf("--patience is %s, want a positive duration", f.patience)
	}
	releases, err := f.withClusterctl()
	if err != nil {
		return nil, err
	}
	template, err := os.ReadFile(f.template)
	if err != nil {
		return nil, err
	}
	topology, err := f.topologyTemplate()
	if err != nil {
		return nil, err
	}
	if err := f.checkHooksAddress(); err != nil {
		return nil, err
	}
	config, management, err := f.connect()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", f.kubeconfig, err)
	}
	variables := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	return &live.Checker{
		Client: management, Template: string(template), Variables: variables, Namespace: f.namespace, Providers: f.providers,
		TopologyTemplate: topology, Config: config, HooksAddress: f.hooksAddress,
		Releases: releases, UpgradeTo: f.upgradeTo, Patience: f.patience, Log: progress.show, Warn: progress.warn,
	}, nil
}

func (f *liveFlags) checkHooksAddress() error {
	if f.hooksAddress == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(f.hooksAddress)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("--hooks-address is %q, want HOST:PORT", f.hooksAddress)
	}
	if net.ParseIP(host).IsUnspecified() {
		return fmt.Errorf("--hooks-address is %q, want the HOST that the management cluster connects to", f.hooksAddress)
	}
	return nil
}

// topologyTemplate reads the template with a topology and its ClusterClass; empty for none.
func (f *liveFlags) topologyTemplate() (string, error) {
	var all []string
	for _, file := range f.topology {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("--topology-template: %w", err)
		}
		all = append(all, string(content))
	}
	return strings.Join(all, "\n---\n"), nil
}

// connect connects to the management cluster.
func (f *liveFlags) connect() (*rest.Config, client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, nil, err
	}
	config.QPS, config.Timeout, config.WarningHandler = -1, requestTimeout, rest.NoWarnings{}
	log.SetLogger(logr.Discard()) // what controller-runtime would log is in the errors, too
	scheme, err := live.NewScheme()
	if err != nil {
		return nil, nil, err
	}
	management, err := client.New(config, client.Options{Scheme: scheme})
	return config, management, err
}

// withClusterctl returns what clusterctl installs; nil if it installs nothing.
func (f *liveFlags) withClusterctl() (*live.Releases, error) {
	releases := f.releases
	if len(releases.Versions) == 0 {
		if len(releases.Previous) > 0 || releases.Config != "" {
			return nil, errors.New("--previous-release and --clusterctl-config need --release PROVIDER=VERSION")
		}
		return nil, nil
	}
	if err := releases.Validate(); err != nil {
		return nil, err
	}
	if releases.Config == "" {
		return nil, errors.New("--release needs --clusterctl-config FILE")
	}
	config, err := filepath.Abs(releases.Config)
	if err == nil {
		_, err = os.Stat(config)
	}
	if err != nil {
		return nil, fmt.Errorf("--clusterctl-config: %w", err)
	}
	if releases.Program, err = exec.LookPath(releases.Program); err != nil {
		return nil, fmt.Errorf("--clusterctl: %w", err)
	}
	releases.Config, releases.Kubeconfig, releases.Context = config, f.kubeconfig, f.context
	return &releases, nil
}
