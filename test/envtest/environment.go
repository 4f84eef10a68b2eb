// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package envtestenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

const (
	assetsVariable           = "KUBEBUILDER_ASSETS"
	defaultKubernetesVersion = "v1.36.3"
)

// Environment is a running kube-apiserver with its etcd.
type Environment struct {
	// Config connects to the kube-apiserver with all permissions.
	Config *rest.Config
	// Scheme contains Kubernetes' own kinds, CRDs, Cluster API's core and kubeadm bootstrap kinds,
	// and Foo's kinds in both versions.
	Scheme *runtime.Scheme
	// Client reads and writes without a cache.
	Client client.Client

	environment *envtest.Environment
}

// Start starts a kube-apiserver with all CRDs. The caller must Stop it. If programs are missing, it
// returns an error that names them. The context bounds only the start.
func Start(ctx context.Context) (*Environment, error) {
	return start(ctx, func(folders) envtest.WebhookInstallOptions { return envtest.WebhookInstallOptions{} })
}

// StartWithWebhooks is like Start, but the kube-apiserver calls Foo's admission and conversion
// webhooks. The caller serves them with the options from WebhookServer; until then, no object of
// Foo's kinds can be written.
func StartWithWebhooks(ctx context.Context) (*Environment, error) {
	return start(ctx, folders.webhooks)
}

// WebhookServer returns the address at which the kube-apiserver expects the webhooks, with a
// certificate that it trusts.
func (e *Environment) WebhookServer() webhook.Options {
	options := e.environment.WebhookInstallOptions
	return webhook.Options{Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir}
}

// NewManager returns a manager configured like Foo's programs, with the given flags, but without
// servers. Its controllers may have the same names as those of another manager.
func (e *Environment) NewManager(flags ...string) (ctrl.Manager, error) {
	flags = append([]string{"--diagnostics-address=0", "--health-addr=0"}, flags...)
	opts, err := manager.ParseOptions(flags, feature.MutableGates)
	if err != nil {
		return nil, fmt.Errorf("reading the flags %v: %w", flags, err)
	}
	return manager.Program{Name: "test"}.New(e.Config, opts, func(o *ctrl.Options) {
		o.Controller.SkipNameValidation = ptr.To(true)
		if e.environment.WebhookInstallOptions.LocalServingPort > 0 {
			o.WebhookServer = webhook.NewServer(e.WebhookServer())
		}
	})
}

// EtcdURL returns the URL of the kube-apiserver's etcd, so that tests can check how an object is
// stored.
func (e *Environment) EtcdURL() string { return e.environment.ControlPlane.Etcd.URL.String() }

func start(ctx context.Context, webhooks func(folders) envtest.WebhookInstallOptions) (*Environment, error) {
	found, err := findFolders(ctx)
	if err != nil {
		return nil, err
	}
	assets, err := findAssets(found.foo)
	if err != nil {
		return nil, err
	}
	crds, err := loadCRDs(found.crdFolders())
	if err != nil {
		return nil, err
	}
	scheme, err := manager.NewScheme()
	if err != nil {
		return nil, err
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		Scheme:                   scheme,
		CRDs:                     crds,
		ErrorIfCRDPathMissing:    true,
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: Patience},
		WebhookInstallOptions:    webhooks(found),
		ControlPlaneStartTimeout: Patience,
		ControlPlaneStopTimeout:  Patience,
	}
	environment.WebhookInstallOptions.MaxTime = Patience
	config, err := environment.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a kube-apiserver of %s: %w", assets, err), environment.Stop())
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("creating a client: %w", err), environment.Stop())
	}
	return &Environment{Config: config, Scheme: scheme, Client: c, environment: environment}, nil
}

// Stop stops the kube-apiserver and etcd and deletes their files.
func (e *Environment) Stop() error {
	if err := e.environment.Stop(); err != nil {
		return fmt.Errorf("stopping the kube-apiserver: %w", err)
	}
	return nil
}

// CreateNamespace creates a namespace whose name starts with the prefix, and returns its name.
func (e *Environment) CreateNamespace(ctx context.Context, prefix string) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	if err := e.Client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("creating a namespace: %w", err)
	}
	return namespace.Name, nil
}

func findAssets(root string) (string, error) {
	assets := os.Getenv(assetsVariable)
	if assets == "" {
		assets = filepath.Join(root, "bin", "kubernetes", defaultKubernetesVersion)
	}
	missing := slices.DeleteFunc([]string{"etcd", "kube-apiserver"}, func(name string) bool {
		_, err := fs.Stat(os.DirFS(assets), name)
		return err == nil
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("%s has no %v: run `make node`, or set %s to a folder with them", assets, missing, assetsVariable)
	}
	return assets, nil
}
