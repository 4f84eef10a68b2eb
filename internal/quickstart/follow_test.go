// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"io"
	"testing"

	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/internal/observer"
)

// following returns what follows a cluster, and how to change it.
func following(t *testing.T, objects ...client.Object) (*follower, client.WithWatch) {
	t.Helper()
	scheme, err := newScheme()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	return &follower{
		config: validConfig(t.TempDir()), say: newPrinter(io.Discard), live: live,
		management: &observer.Observer{Reader: live, Changes: make(chan struct{}, 1)},
	}, live
}

func demo() *clusterv1.Cluster {
	cluster := &clusterv1.Cluster{}
	cluster.Namespace, cluster.Name = "default", "demo"
	return cluster
}

// Nobody waits until the timeout for a cluster that is deleted.
func TestFollowingEndsWithTheCluster(t *testing.T) {
	for name, finalizers := range map[string][]string{"that is gone": nil, "that is being deleted": {"example.com/hold"}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f, live := following(t)
			_, _, err := f.look(t.Context())
			g.Expect(err).NotTo(HaveOccurred(), "the observer may not know the cluster yet")
			cluster := demo()
			cluster.Finalizers = finalizers
			g.Expect(live.Create(t.Context(), cluster)).To(Succeed())
			_, _, err = f.look(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(live.Delete(t.Context(), cluster)).To(Succeed())
			g.Expect(f.follow(t.Context())).To(MatchError(errDeleted))
		})
	}
}

func TestFollowingEndsWithTheManagementCluster(t *testing.T) {
	g := NewWithT(t)
	f, _ := following(t, demo())
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errStopped)
	g.Expect(f.follow(ctx)).To(MatchError(errStopped))
}
