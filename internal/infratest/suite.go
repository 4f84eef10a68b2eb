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
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

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
}

// SetupFunc adds the controllers under test.
type SetupFunc func(ctx context.Context, mgr ctrl.Manager, cloud *fake.Cloud, events *cloudevents.Events) error

// Run runs the specs of a package against a new Suite, which suite points to while they run.
func Run(t *testing.T, name string, suite **Suite, setup SetupFunc) {
	var environment *envtestenv.Environment
	envtestenv.Run(t, name, &environment, envtestenv.Start, func(ctx context.Context) {
		mgr, err := environment.NewManager()
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		cloud := fake.New(fake.Options{})
		// The backoff is short, so that a test that drops the watch need not wait.
		events := cloudevents.New(cloud, nil, wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Steps: 1})
		gomega.Expect(mgr.Add(events)).To(gomega.Succeed())
		gomega.Expect(setup(ctx, mgr, cloud, events)).To(gomega.Succeed())
		*suite = &Suite{Client: environment.Client, Cloud: cloud, environment: environment}
		envtestenv.RunManager(mgr)
	})
}

// Begin prepares a spec. It returns a context and a namespace that no other spec has. The cloud
// does at once what it is asked for, and the named calls work again after the spec.
func (s *Suite) Begin(healed ...fake.Call) (context.Context, string) {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	s.Cloud.SetMode(fake.Instant)
	s.Cloud.SetLateAddresses(false)
	ginkgo.DeferCleanup(func() {
		cancel()
		for _, call := range healed {
			s.Cloud.Heal(call)
		}
	})
	namespace, err := s.Namespace(ctx)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return ctx, namespace
}

// HaveCondition waits until the object that get returns has the condition.
func HaveCondition[T conditions.Getter](get func(g gomega.Gomega) T, kind string, status metav1.ConditionStatus, reason string) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func(g gomega.Gomega) {
		c := conditions.Get(get(g), kind)
		g.Expect(c).NotTo(gomega.BeNil())
		g.Expect(c.Status).To(gomega.Equal(status), c.Message)
		g.Expect(c.Reason).To(gomega.Equal(reason), c.Message)
	}).Should(gomega.Succeed(), "the controller reports the condition")
}

// SetPaused pauses or resumes a Cluster.
func (s *Suite) SetPaused(ctx context.Context, cluster *clusterv1.Cluster, paused bool) {
	ginkgo.GinkgoHelper()
	before := cluster.DeepCopy()
	cluster.Spec.Paused = &paused
	gomega.Expect(s.Client.Patch(ctx, cluster, client.MergeFrom(before))).To(gomega.Succeed())
}

// BeGone waits until the object no longer exists.
func (s *Suite) BeGone(ctx context.Context, object client.Object) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func() error {
		return s.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
	}).Should(gomega.MatchError(apierrors.IsNotFound, "not found"), "the controller removes its finalizer")
}

// BeDeletedAfterPausedCluster deletes an object, which must wait while its Cluster is paused, and
// then the Cluster without resuming it.
func (s *Suite) BeDeletedAfterPausedCluster(ctx context.Context, cluster *clusterv1.Cluster, object interface {
	client.Object
	conditions.Getter
}) {
	ginkgo.GinkgoHelper()
	get := func(g gomega.Gomega) conditions.Getter {
		g.Expect(s.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(gomega.Succeed())
		return object
	}
	s.SetPaused(ctx, cluster, true)
	HaveCondition(get, clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
	gomega.Expect(s.Client.Delete(ctx, object)).To(gomega.Succeed())
	gomega.Consistently(get).WithTimeout(time.Second).Should(gomega.HaveField("GetFinalizers()", gomega.Not(gomega.BeEmpty())), "its Cluster is paused")
	gomega.Expect(s.Client.Delete(ctx, cluster)).To(gomega.Succeed())
	s.BeGone(ctx, object)
}

// Namespace creates a separate namespace for a test.
func (s *Suite) Namespace(ctx context.Context) (string, error) {
	return s.environment.CreateNamespace(ctx, "test")
}
