// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// A cache that is behind may show the FooCluster as it was before its deletion, in which nobody looks
// for machines that still need the load balancer.
func TestACacheThatIsBehindADeletionKeepsTheLoadBalancer(t *testing.T) {
	g := NewWithT(t)
	scheme, err := manager.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	owner := infratest.NewCluster("ns", "one")
	fooCluster := infratest.NewFooCluster(owner)
	user := infratest.NewFooMachine(infratest.NewMachine(owner, "user"))
	kube := clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(owner, fooCluster, user).WithStatusSubresource(fooCluster).Build()
	var cached *infrav1.FooCluster
	behind := interceptor.NewClient(kube, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if found, ok := object.(*infrav1.FooCluster); ok && cached != nil {
				cached.DeepCopyInto(found)
				return nil
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	foocloud := fake.New(fake.Options{Mode: fake.Instant})
	r := &reconciler{
		client: behind, live: kube, clouds: cloudidentity.One(foocloud), now: time.Now,
		gate: gate.Gate{Client: behind, Finalizer: infrav1.FooClusterFinalizer},
		reporter: report.Reporter{
			Client: behind, Live: kube, Recorder: events.NewFakeRecorder(100), Owned: ownedConditions, Kinds: eventKinds,
		},
	}
	key := client.ObjectKeyFromObject(fooCluster)
	reconciles := func(times int) {
		for range times {
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			g.Expect(err).NotTo(HaveOccurred())
		}
	}
	reconciles(4)
	g.Expect(kube.Get(t.Context(), key, fooCluster)).To(Succeed())
	g.Expect(fooCluster.Spec.ControlPlaneEndpoint).NotTo(BeZero())
	g.Expect(foocloud.SetLoadBalancerFailed("ns.one", "crashed")).To(BeTrue())
	reconciles(1) // writes what the cache will not show
	g.Expect(kube.Delete(t.Context(), fooCluster.DeepCopy())).To(Succeed())
	cached = fooCluster
	reconciles(1)
	_, err = foocloud.GetLoadBalancer(t.Context(), "ns.one")
	g.Expect(err).NotTo(HaveOccurred())

	cached = nil
	g.Expect(kube.Delete(t.Context(), user)).To(Succeed())
	reconciles(4)
	_, err = foocloud.GetLoadBalancer(t.Context(), "ns.one")
	g.Expect(err).To(HaveOccurred(), "nothing needs it any more")
}
