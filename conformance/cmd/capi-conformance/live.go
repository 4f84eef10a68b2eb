// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
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
	providers                                []string
	upgradeTo                                string
	patience                                 time.Duration
}

func (f *liveFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&f.live, "live", false, "create a real cluster in a management cluster")
	flags.StringVar(&f.template, "template", "", "cluster template for --live, without a managed topology; the environment has the values of its variables")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster for --live; kubectl's by default")
	flags.StringVar(&f.context, "context", "", "context in the kubeconfig")
	flags.StringVar(&f.namespace, "namespace", "capi-conformance", "namespace that --live creates for the cluster, and deletes")
	flags.StringSliceVar(&f.providers, "provider", nil, "label cluster.x-k8s.io/provider of the kinds that --live checks, such as infrastructure-foo; all by default")
	flags.StringVar(&f.upgradeTo, "upgrade-to", "", "version of Kubernetes to upgrade the control plane to with --live; none by default")
	flags.DurationVar(&f.patience, "patience", 15*time.Minute, "how long the cluster may take after each change with --live")
}

func (f *liveFlags) checker(report func(string)) (*live.Checker, error) {
	if f.template == "" {
		return nil, errors.New("--live needs --template FILE")
	}
	if f.patience <= 0 {
		return nil, fmt.Errorf("--patience is %s, want a positive duration", f.patience)
	}
	template, err := os.ReadFile(f.template)
	if err != nil {
		return nil, err
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", f.kubeconfig, err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	log.SetLogger(logr.Discard()) // what controller-runtime would log is in the errors, too
	scheme, err := live.NewScheme()
	if err != nil {
		return nil, err
	}
	management, err := client.New(config, client.Options{Scheme: scheme})
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
		UpgradeTo: f.upgradeTo, Patience: f.patience, Log: report,
	}, nil
}
