// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manager contains what Foo's programs have in common: flags, logs, health, metrics, leader
// election, the kinds that they know and what they cache of them, and the check that the installed
// CRDs are of the same release.
//
// The flags match those of Cluster API's own managers wherever these have one for the purpose, so
// that operators of those managers know this one. Contradictory or unknown values cause an error
// that says what is allowed.
//
// Limits: the package chooses no cloud and has no controllers: the Setup of each program adds what
// it runs.
package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/util/apiwarnings"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta1"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Program is one of Foo's programs.
type Program struct {
	// Name is the name of the program in user agents.
	Name string
	// Command is the name of the program's command, for messages.
	Command string
	// Roles lists the roles that the program has; --providers selects some of them.
	Roles []Provider
	// WebhookServer creates the server of the webhooks; controller-runtime's if nil.
	WebhookServer func(webhook.Options) (webhook.Server, error)
	// Setup adds what the program runs to its manager.
	Setup func(ctx context.Context, mgr ctrl.Manager, opts *Options) error
}

// Main runs the program with the arguments of its command line until it is told to stop, and
// returns its exit code.
func (p Program) Main(args []string) int {
	opts, err := ParseOptions(args, feature.MutableGates)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Print(opts.Usage())
		return 0
	}
	if err == nil && opts.showVersion {
		fmt.Println(p.Command, version.Get().GitVersion)
		return 0
	}
	if err == nil {
		err = p.Run(ctrl.SetupSignalHandler(), opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, p.Command+":", err)
		return 1
	}
	return 0
}

// Run runs the program until the context ends. It returns an error if the options are invalid or
// something goes wrong.
func (p Program) Run(ctx context.Context, opts *Options) error {
	if err := opts.Validate(); err != nil {
		return err
	}
	if err := p.checkRoles(opts); err != nil {
		return err
	}
	if err := logsv1.ValidateAndApply(opts.logs, nil); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	klog.Background().Info("Starting", "program", p.Command, "version", version.Get().GitVersion)
	opts.Print()

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	mgr, err := p.New(config, opts)
	if err != nil {
		return err
	}
	if err := p.Setup(ctx, mgr, opts); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// checkRoles rejects the roles of other programs.
func (p Program) checkRoles(opts *Options) error {
	own := names(p.Roles)
	for _, given := range opts.providers {
		if !slices.Contains(own, given) {
			return fmt.Errorf("--providers has %q, but may only have %s: another of Foo's programs has this role", given, strings.Join(own, ", "))
		}
	}
	return nil
}

// NewScheme returns a scheme that knows the kinds of Kubernetes, of Cluster API and of Foo, in all
// versions.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme,
		controlplanev1.AddToScheme, controlplanev1beta1.AddToScheme, infrav1.AddToScheme, infrav1beta1.AddToScheme, extensionv1.AddToScheme, runtimev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
	}
	return scheme, nil
}

// New returns a manager for the management cluster of config, as the options describe it, without
// anything that it runs. Tests may change its options, such as the server of the webhooks.
func (p Program) New(config *rest.Config, opts *Options, changes ...func(*ctrl.Options)) (ctrl.Manager, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.UserAgent = opts.kubeAPIQPS, opts.kubeAPIBurst, p.Name
	config.WarningHandler = apiwarnings.DefaultHandler(klog.Background().WithName("API Server Warning"))
	managerOptions, err := p.managerOptions(opts)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		change(&managerOptions)
	}
	mgr, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

func (p Program) managerOptions(opts *Options) (ctrl.Options, error) {
	scheme, err := NewScheme()
	if err != nil {
		return ctrl.Options{}, err
	}
	tls, metrics, err := capiflags.GetManagerOptions(opts.serving)
	if err != nil {
		return ctrl.Options{}, err
	}
	server, err := p.webhookServer(opts.Webhook, tls)
	if err != nil {
		return ctrl.Options{}, err
	}
	if opts.contentionProfiling {
		goruntime.SetBlockProfileRate(1)
	}
	options := opts.base
	options.Scheme = scheme
	options.Controller.UsePriorityQueue = ptr.To(opts.Gates.Enabled(feature.PriorityQueue))
	options.Cache = cacheOptions(opts)
	options.Client = clientOptions()
	options.Metrics = *metrics
	options.WebhookServer = server
	options.LeaderElectionResourceLock = resourcelock.LeasesResourceLock
	// The process ends as soon as the manager has stopped, so nothing is done after the Lease is
	// released.
	options.LeaderElectionReleaseOnCancel = true
	return options, nil
}

func (p Program) webhookServer(options webhook.Options, tls []func(*tls.Config)) (webhook.Server, error) {
	options.TLSOpts = tls
	if p.WebhookServer != nil {
		return p.WebhookServer(options)
	}
	return webhook.NewServer(options), nil
}
