// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package envtestenv

import (
	"context"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// StartFunc is Start or StartWithWebhooks.
type StartFunc func(ctx context.Context) (*Environment, error)

// Run runs a package's specs with the kube-apiserver that start starts, which environment points to
// while they run. prepare runs before the first spec.
func Run(t *testing.T, name string, environment **Environment, start StartFunc, prepare ...func(ctx context.Context)) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.BeforeSuite(func(ctx ginkgo.SpecContext) {
		ctrl.SetLogger(zap.New(zap.WriteTo(ginkgo.GinkgoWriter), zap.UseDevMode(true)))
		gomega.SetDefaultEventuallyTimeout(Patience)
		started, err := start(ctx)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		*environment = started
		ginkgo.DeferCleanup(func() { gomega.Expect(started.Stop()).To(gomega.Succeed()) })
		for _, f := range prepare {
			f(ctx)
		}
	})
	ginkgo.RunSpecs(t, name)
}

// RunManager starts a manager, and stops it when the spec ends, or the suite if it is called before
// the first spec.
func RunManager(mgr ctrl.Manager) {
	ginkgo.GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	ginkgo.DeferCleanup(func() {
		stop()
		gomega.Eventually(stopped).WithTimeout(Patience).Should(gomega.Receive(gomega.BeNil()))
	})
}
