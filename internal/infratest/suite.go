// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package infratest holds what the tests of the infrastructure controllers share: a manager with a
// fake cloud and a real API server, and the writes that Cluster API's own controllers would make.
//
// Limits: only tests import it. No controller of Cluster API runs, so a test performs their work
// step by step.
package infratest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// Suite is a running API server with a manager and a fake cloud.
type Suite struct {
	// Client reads and writes without a cache.
	Client client.Client
	// Cloud is the fake cloud of all controllers.
	Cloud *fake.Cloud

	environment *envtestenv.Environment
	stop        context.CancelFunc
	stopped     chan error
}

// SetupFunc adds the controllers under test.
type SetupFunc func(ctx context.Context, mgr ctrl.Manager, cloud *fake.Cloud, events *cloudevents.Events) error

// Run runs the specs of a package against a new Suite, which suite points to while they run.
func Run(t *testing.T, name string, suite **Suite, setup SetupFunc) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.BeforeSuite(func(ctx ginkgo.SpecContext) {
		ctrl.SetLogger(zap.New(zap.WriteTo(ginkgo.GinkgoWriter), zap.UseDevMode(true)))
		gomega.SetDefaultEventuallyTimeout(envtestenv.Patience)
		started, err := Start(ctx, setup)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		*suite = started
		ginkgo.DeferCleanup(func() { gomega.Expect(started.Stop()).To(gomega.Succeed()) })
	})
	ginkgo.RunSpecs(t, name)
}

// Start starts an API server, a manager and whatever setup adds to it. The caller must Stop the
// suite.
func Start(ctx context.Context, setup SetupFunc) (*Suite, error) {
	environment, err := envtestenv.Start(ctx)
	if err != nil {
		return nil, err
	}
	suite, err := startManager(environment, setup)
	if err != nil {
		return nil, errors.Join(err, environment.Stop())
	}
	return suite, nil
}

func startManager(environment *envtestenv.Environment, setup SetupFunc) (*Suite, error) {
	mgr, err := environment.NewManager()
	if err != nil {
		return nil, err
	}
	cloud := fake.New(fake.Options{})
	// The backoff is short, so that a test that drops the watch need not wait.
	events := cloudevents.New(cloud, nil, wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Steps: 1})
	if err := mgr.Add(events); err != nil {
		return nil, fmt.Errorf("add the events of the cloud: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := setup(ctx, mgr, cloud, events); err != nil {
		stop()
		return nil, err
	}
	suite := &Suite{
		Client: environment.Client, Cloud: cloud, environment: environment, stop: stop, stopped: make(chan error, 1),
	}
	go func() { suite.stopped <- mgr.Start(ctx) }()
	return suite, nil
}

// Stop stops the manager and the API server.
func (s *Suite) Stop() error {
	s.stop()
	var err error
	select {
	case err = <-s.stopped:
	case <-time.After(envtestenv.Patience):
		err = fmt.Errorf("the manager did not stop within %s", envtestenv.Patience)
	}
	return errors.Join(err, s.environment.Stop())
}

// Namespace creates a separate namespace for a test.
func (s *Suite) Namespace(ctx context.Context) (string, error) {
	return s.environment.CreateNamespace(ctx, "test")
}
