//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/behaviour/internal/mutant"
)

// work reconciles all namespaces except the old ones in the background, once per pace.
func work(ctx context.Context, provider *mutant.Provider, old []corev1.Namespace, pace time.Duration) {
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			namespaces := &corev1.NamespaceList{}
			if err := provider.List(ctx, namespaces); err != nil {
				continue
			}
			for i := range namespaces.Items {
				if slices.ContainsFunc(old, func(one corev1.Namespace) bool { return one.Name == namespaces.Items[i].Name }) {
					continue
				}
				_, _ = provider.Step(ctx, namespaces.Items[i].Name) // a conflict is tried again
			}
		}
	}
}

// TestASlowProviderIsWaitedFor has a provider that needs ten times as long for each step as nothing
// must change before the suite believes that nothing will.
func TestASlowProviderIsWaitedFor(t *testing.T) {
	environment := withMutants(t)
	for _, rule := range []string{"infrastructure-machine/pausing", "infrastructure-machine/waits-for-bootstrap", "infrastructure-cluster/externally-managed"} {
		t.Run(rule, func(t *testing.T) {
			g := NewWithT(t)
			config := &Config{Kinds: kindsOf(rule), Contracts: []string{"v1beta2"}, Quiet: metav1.Duration{Duration: 150 * time.Millisecond}}
			config.setDefaults()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			namespaces := &corev1.NamespaceList{}
			g.Expect(environment.Client.List(ctx, namespaces)).To(Succeed())
			provider := &mutant.Provider{Client: environment.Client, Contract: "v1beta2", Violates: rule, Kinds: reconciled(config)}
			go work(ctx, provider, namespaces.Items, 1500*time.Millisecond)
			results, err := (&Checker{Config: config, Environment: environment, Scenarios: scenariosOf(rule)}).Check(ctx, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(results).To(ContainElement(And(HaveField("Rule", rule), HaveField("Status", conformance.Failed))))
		})
	}
}
