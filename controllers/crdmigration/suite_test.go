//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package crdmigration_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
	controlplaneadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/controlplane"
	infraadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/infrastructure"
)

var environment *envtestenv.Environment

func TestMigration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "CRD migration")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	SetDefaultEventuallyTimeout(envtestenv.Patience)
	var err error
	environment, err = envtestenv.StartWithWebhooks(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(environment.Stop()).To(Succeed()) })

	mgr, err := environment.NewManager()
	Expect(err).NotTo(HaveOccurred())
	Expect(controlplaneadmission.SetupWithManager(mgr)).To(Succeed())
	Expect(infraadmission.SetupWithManager(mgr)).To(Succeed())
	run(mgr)
	Eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed(), "the server listens in its own goroutine")
})

// run starts a manager and stops it when the spec or the suite ends.
func run(mgr ctrl.Manager) {
	managed, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(managed) }()
	DeferCleanup(func() {
		stop()
		Eventually(stopped).Should(Receive(BeNil()))
	})
}
