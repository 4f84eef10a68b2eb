//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/test/crowd"
)

var _ = Describe("A handler with many concurrent callers", Serial, func() {
	for _, hook := range hooks.Names() {
		It(hook+" answers 99 of 100 within the budget", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			measured := crowd.Within(func(try int) time.Duration {
				var clusters []*clusterv1.Cluster
				for i := range crowd.AtOnce {
					clusters = append(clusters, newCluster(ctx, namespace, fmt.Sprintf("many-%d-%d", try, i)))
				}
				return slowest99(ctx, hook, clusters)
			}, func() time.Duration { return max(crowd.Reference(), plainWrites(ctx, namespace)/5) })
			AddReportEntry(hook, measured.String())
			Expect(measured.Holds()).To(BeTrue(), measured.String())
		})
	}
})

// slowest99 calls a hook for all clusters concurrently, several times each. The first call for each
// cluster writes a job.
func slowest99(ctx context.Context, hook string, clusters []*clusterv1.Cluster) time.Duration {
	caller := newCaller()
	return crowd.Slowest99(func(number int) {
		defer GinkgoRecover()
		Expect(caller.call(ctx, replicas[0], hook, requests(clusters[number], on)[hook]).Message).NotTo(BeEmpty())
	})
}

// plainWrites is how long the API server takes for as many writes at once without the extension. On
// the machine that the budget is meant for, a fifth of it is below crowd.Yardstick.
func plainWrites(ctx context.Context, namespace string) time.Duration {
	var once [crowd.AtOnce]sync.Once
	return crowd.Slowest99(func(number int) {
		defer GinkgoRecover()
		once[number].Do(func() {
			Expect(environment.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "plain-"}})).To(Succeed())
		})
	})
}
