//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// environment is both the management cluster and the workload cluster.
var environment *envtestenv.Environment

func TestAddons(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Add-ons")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	SetDefaultEventuallyTimeout(envtestenv.Patience)
	var err error
	environment, err = envtestenv.Start(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(environment.Stop()).To(Succeed()) })
})
