//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhooks tests the webhooks against a real kube-apiserver that calls them: both
// versions of each kind, what is refused and with which message, and what is allowed.
//
// Limits: no controllers run. Their own packages test what they do with the objects.
package webhooks_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapconversion "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"
	coreconversion "sigs.k8s.io/cluster-api/core/webhooks/conversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission/infrastructure"
)

var environment *envtestenv.Environment

// setupClusterAPI serves Cluster API's own conversion for the kinds in a v1beta1 flavor. It leaves
// out Cluster API's admission webhooks: they read other objects, which do not exist without Cluster
// API's controllers.
func setupClusterAPI(mgr ctrl.Manager) error {
	for _, add := range []func(*runtime.Scheme) error{
		clusterv1beta1.AddToScheme, bootstrapv1beta1.AddToScheme, addonsv1beta1.AddToScheme, addonsv1.AddToScheme,
	} {
		if err := add(mgr.GetScheme()); err != nil {
			return err
		}
	}
	// References get back the version that all references in the flavor have.
	coreconversion.SetAPIVersionGetter(func(_ context.Context, kind schema.GroupKind) (string, error) {
		return kind.Group + "/v1beta1", nil
	})
	return errors.Join(
		ctrl.NewWebhookManagedBy(mgr, &clusterv1.Cluster{}).WithConverter(coreconversion.Cluster).Complete(),
		ctrl.NewWebhookManagedBy(mgr, &clusterv1.MachinePool{}).WithConverter(coreconversion.MachinePool).Complete(),
		ctrl.NewWebhookManagedBy(mgr, &addonsv1.ClusterResourceSet{}).WithConverter(coreconversion.ClusterResourceSet).Complete(),
		ctrl.NewWebhookManagedBy(mgr, &bootstrapv1.KubeadmConfig{}).WithConverter(bootstrapconversion.KubeadmConfig).Complete(),
	)
}

func TestWebhooks(t *testing.T) {
	envtestenv.Run(t, "Webhooks", &environment, envtestenv.StartWithWebhooks, serveWebhooks)
}

func serveWebhooks(ctx context.Context) {
	mgr, err := ctrl.NewManager(environment.Config, ctrl.Options{
		Scheme: environment.Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(environment.WebhookServer()),
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(controlplane.SetupWithManager(mgr)).To(Succeed())
	Expect(infrastructure.SetupWithManager(mgr)).To(Succeed())
	Expect(setupClusterAPI(mgr)).To(Succeed())
	envtestenv.RunManager(mgr)
	Eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed(), "the server listens in its own goroutine")
	for kind, wrong := range map[string]struct {
		spec any
		says string
	}{
		"FooControlPlane": {map[string]any{"version": "latest"}, `Invalid value: "vlatest"`}, // "v" is a default
		"FooMachinePool":  {map[string]any{"providerIDList": []string{"foo:///a/1", "foo:///a/1"}}, "Duplicate value"},
	} {
		object := fixture(ctx, "v1beta2", kind, map[string]any{"spec": wrong.spec})
		Eventually(func() error { return environment.Client.Create(ctx, object.DeepCopy(), client.DryRunAll) }).
			Should(MatchError(ContainSubstring(wrong.says)), "the API server watches which webhooks there are")
	}
}
