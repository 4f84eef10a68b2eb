// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Another command may create a cluster of the same name as soon as the old one is gone.
func TestDeletionSparesANewCluster(t *testing.T) {
	g := NewWithT(t)
	ctx := t.Context()
	f, live := following(t)
	objects, err := renderTemplate(ctx, f.config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(createObjects(ctx, f.config, live, objects, newPrinter(io.Discard))).To(Succeed())
	kubeconfig := f.config.workloadKubeconfig()
	g.Expect(os.WriteFile(kubeconfig, nil, 0o600)).To(Succeed())
	var left infrav1.FooClusterList
	look := func() {
		g.Expect(f.config.clearAway(ctx, live, io.Discard)).To(Succeed())
		g.Expect(live.List(ctx, &left)).To(Succeed())
	}
	look()
	g.Expect(left.Items).To(HaveLen(1))
	g.Expect(kubeconfig).To(BeAnExistingFile())
	cluster := &clusterv1.Cluster{}
	g.Expect(live.Get(ctx, f.config.key(), cluster)).To(Succeed())
	g.Expect(live.Delete(ctx, cluster)).To(Succeed())
	look()
	g.Expect(left.Items).To(BeEmpty())
	g.Expect(kubeconfig).NotTo(BeAnExistingFile())
}

// What a creation has made before it reached the Cluster can be deleted.
func TestDeletionOfACreationThatFailed(t *testing.T) {
	g := NewWithT(t)
	ctx := t.Context()
	f, live := following(t)
	broken := errors.New("broken")
	failing := interceptor.NewClient(live, interceptor.Funcs{
		Apply: func(ctx context.Context, all client.WithWatch, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			object, ok := applied.(interface{ GetKind() string })
			if ok && object.GetKind() == "Cluster" {
				return broken
			}
			return all.Apply(ctx, applied, options...)
		},
	})
	objects, err := renderTemplate(ctx, f.config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(createObjects(ctx, f.config, failing, objects, newPrinter(io.Discard))).To(MatchError(broken))
	var left infrav1.FooClusterList
	g.Expect(live.List(ctx, &left)).To(Succeed())
	g.Expect(left.Items).To(HaveLen(1))
	g.Expect(live.Get(ctx, f.config.key(), &clusterv1.Cluster{})).NotTo(Succeed())

	g.Expect(f.config.deleteRest(ctx, live)).To(BeTrue())
	g.Expect(live.List(ctx, &left)).To(Succeed())
	g.Expect(left.Items).To(BeEmpty())
	g.Expect(f.config.deleteRest(ctx, live)).To(BeFalse(), "nothing is left")
}
