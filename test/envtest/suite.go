// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package envtestenv

import (
	"context"
	"reflect"
	"testing"
	"time"

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

// Patience is how long a test waits for something that must happen. Only a failing test waits this
// long, so there is room for a machine with many times less CPU time than usual.
const Patience = 2 * time.Minute

// restingLooks is how many consecutive samples must be equal. It is a count and not a duration,
// because much time may pass while nothing in this process can run.
const restingLooks = 20

// EventuallyRests waits until the result of look stays the same for a while, and returns it. It
// fails if the result keeps changing. The description is a Gomega description.
func EventuallyRests[T any](look func() T, quiet time.Duration, description ...any) T {
	ginkgo.GinkgoHelper()
	last, same := look(), 0
	gomega.Eventually(func() int {
		if now := look(); reflect.DeepEqual(now, last) {
			same++
		} else {
			last, same = now, 0
		}
		return same
	}).WithTimeout(Patience+2*quiet).WithPolling(quiet/restingLooks).Should(gomega.BeNumerically(">=", restingLooks), description...)
	return last
}
