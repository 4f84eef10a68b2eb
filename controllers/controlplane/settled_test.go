//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const (
	settledFilter = "settled"
	settledNumber = 10
	// settledResync is how often everything is reconciled even if nothing changes.
	settledResync = 3 * time.Second
)

// settledWindow is how long there must be no write. SETTLED_WINDOW=2m is the time that the project
// promises.
func settledWindow() time.Duration {
	if window, err := time.ParseDuration(os.Getenv("SETTLED_WINDOW")); err == nil {
		return window
	}
	return 12 * time.Second
}

// countingClient counts its writes.
func countingClient(writes *atomic.Int64, last *atomic.Value) func(*rest.Config, client.Options) (client.Client, error) {
	note := func(what string, object client.Object) {
		writes.Add(1)
		last.Store(fmt.Sprintf("%s %T %s", what, object, object.GetName()))
	}
	return func(config *rest.Config, options client.Options) (client.Client, error) {
		base, err := client.NewWithWatch(config, options)
		if err != nil {
			return nil, err
		}
		return interceptor.NewClient(base, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				note("create", object)
				return c.Create(ctx, object, options...)
			},
			Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
				note("update", object)
				return c.Update(ctx, object, options...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				note("delete", object)
				return c.Delete(ctx, object, options...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				note("patch", object)
				return c.Patch(ctx, object, patch, options...)
			},
			Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
				writes.Add(1)
				last.Store(fmt.Sprintf("apply %T", object))
				return c.Apply(ctx, object, options...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				note("patch "+name, object)
				return c.SubResource(name).Patch(ctx, object, patch, options...)
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
				note("update "+name, object)
				return c.SubResource(name).Update(ctx, object, options...)
			},
		}), nil
	}
}

// countingWorkload counts the observations of workload clusters, which shows that reconciles
// happen.
type countingWorkload struct {
	*fakeWorkload
	looks atomic.Int64
}

func (w *countingWorkload) Observe(ctx context.Context, query workload.Query) (workload.Observation, error) {
	w.looks.Add(1)
	return w.fakeWorkload.Observe(ctx, query)
}

var _ = Describe("Settled FooControlPlanes", func() {
	It("cause no writes, not even at resyncs", func(ctx SpecContext) {
		seen := &countingWorkload{fakeWorkload: newFakeWorkload()}
		var writes atomic.Int64
		var last atomic.Value
		mgr, err := ctrl.NewManager(env.Config, ctrl.Options{
			Scheme:     env.Scheme,
			Metrics:    server.Options{BindAddress: "0"},
			NewClient:  countingClient(&writes, &last),
			Cache:      cache.Options{SyncPeriod: ptr.To(settledResync)},
			Controller: config.Controller{SkipNameValidation: ptr.To(true)},
			Client: client.Options{Cache: &client.CacheOptions{
				DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}, Unstructured: true,
			}},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(SetupWithManager(ctx, mgr, Options{WatchFilterValue: settledFilter, SecretClient: mgr.GetClient(), Workload: seen})).To(Succeed())
		envtestenv.RunManager(mgr)

		fixtures := make([]*fixture, 0, settledNumber)
		for range settledNumber {
			f := newFixture(ctx, func(f *fixture) {
				for _, object := range []client.Object{f.cluster, f.infra, f.template, f.controlPlane} {
					object.SetLabels(map[string]string{clusterv1.WatchLabel: settledFilter})
				}
			})
			f.provision(ctx)
			fixtures = append(fixtures, f)
		}
		for _, f := range fixtures {
			Eventually(func() []clusterv1.Machine { return f.machines(ctx) }).Should(HaveLen(1))
			machine := f.machines(ctx)[0]
			seen.change(f.key(), func(cluster *fakeCluster) { cluster.initialized = true })
			seen.addNode(f.key(), machine.Name)
			update(ctx, &machine, func() {
				machine.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
				machine.Status.NodeRef.Name = machine.Name
			})
			f.tellCluster(ctx)
		}
		for _, f := range fixtures {
			Eventually(f.plan(ctx)).Should(Equal("None Settled"))
		}
		news := func() [2]int64 { return [2]int64{writes.Load(), countEvents(ctx, fixtures)} }
		said := func() string { return fmt.Sprintf("the last write: %v", last.Load()) }
		envtestenv.EventuallyRests(news, settledResync, said)
		looks := seen.looks.Load()
		envtestenv.EventuallyRests(news, settledWindow(), said)
		Eventually(func() int64 { return seen.looks.Load() - looks }).Should(BeNumerically(">=", settledNumber), "everything is reconciled at each resync")
	}, SpecTimeout(10*time.Minute))
})

// countEvents counts the events about the fixtures.
func countEvents(ctx context.Context, fixtures []*fixture) int64 {
	GinkgoHelper()
	list := &corev1.EventList{}
	Expect(c.List(ctx, list)).To(Succeed())
	var count int64
	for _, event := range list.Items {
		for _, f := range fixtures {
			if event.Namespace == f.cluster.Namespace {
				count += int64(max(event.Count, 1))
			}
		}
	}
	return count
}
