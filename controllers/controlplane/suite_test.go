//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/feature"

	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// watchFilter is the watch label of the controller under test. Fixtures have it unless a test is
// about the label.
const watchFilter = "tests"

var (
	env       *envtestenv.Environment
	workloads = newFakeWorkload()
	c         client.Client
	// cached is the controller's cache. cachedSecrets is its cache of the Clusters' secrets.
	cached, cachedSecrets client.Reader
)

func TestControlPlane(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "FooControlPlane")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	SetDefaultEventuallyTimeout(envtestenv.Patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(700 * time.Millisecond)
	ctrl.SetLogger(GinkgoLogr)

	// Some management clusters allow taints on Machines.
	Expect(feature.MutableGates.SetFromMap(map[string]bool{string(feature.MachineTaintPropagation): true})).To(Succeed())
	var err error
	env, err = envtestenv.Start(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	c = env.Client

	mgr, err := env.NewManager()
	Expect(err).NotTo(HaveOccurred())
	secrets, err := manager.CachedSecretClient(mgr, &manager.Options{})
	Expect(err).NotTo(HaveOccurred())
	cached, cachedSecrets = mgr.GetClient(), secrets
	running, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	Expect(SetupWithManager(running, mgr, Options{
		WatchFilterValue: watchFilter,
		SecretClient:     secrets,
		Workload:         workloads,
	})).To(Succeed())
	go func() {
		defer GinkgoRecover()
		Expect(mgr.Start(running)).To(Succeed())
	}()
})
