//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
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
	envtestenv.Run(t, "FooControlPlane", &env, envtestenv.Start, startController)
}

func startController(ctx context.Context) {
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(700 * time.Millisecond)
	c = env.Client

	// Some management clusters allow taints on Machines.
	Expect(feature.MutableGates.SetFromMap(map[string]bool{string(feature.MachineTaintPropagation): true})).To(Succeed())
	mgr, err := env.NewManager()
	Expect(err).NotTo(HaveOccurred())
	secrets, err := manager.CachedSecretClient(mgr, &manager.Options{})
	Expect(err).NotTo(HaveOccurred())
	cached, cachedSecrets = mgr.GetClient(), secrets
	Expect(SetupWithManager(ctx, mgr, Options{
		WatchFilterValue: watchFilter,
		SecretClient:     secrets,
		Workload:         workloads,
	})).To(Succeed())
	envtestenv.RunManager(mgr)
}
