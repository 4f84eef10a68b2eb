//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

var _ = Describe("FooCluster", func() {
	It("needs nothing", func(ctx context.Context) {
		created := &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "minimal"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())

		var list infrav1.FooClusterList
		Expect(env.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
		Expect(list.Items[0].Spec.ControlPlaneEndpoint.IsZero()).To(BeTrue())
	})

	It("keeps every field of its spec and status through the API server", func(ctx context.Context) {
		created := &infrav1.FooCluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "full"},
			Spec:       infrav1.FooClusterSpec{ControlPlaneEndpoint: infrav1.APIEndpoint{Host: "10.0.0.1", Port: 6443}},
		}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		want := infrav1.FooClusterStatus{
			Conditions: []metav1.Condition{{
				Type: infrav1.FooClusterReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.FooClusterReadyReason,
				LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
			}},
			Initialization: infrav1.FooClusterInitializationStatus{Provisioned: ptr.To(true)},
			FailureDomains: []clusterv1.FailureDomain{
				{Name: "zone-a", ControlPlane: ptr.To(true)}, {Name: "zone-b", ControlPlane: ptr.To(false)},
			},
			ObservedGeneration: 1,
		}
		created.Status = *want.DeepCopy()
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())
		Expect(created.Status).To(BeEquivalentTo(want))
		Expect(created.Spec.ControlPlaneEndpoint).To(Equal(infrav1.APIEndpoint{Host: "10.0.0.1", Port: 6443}))
	})

	DescribeTable("refuses with a clear message",
		func(ctx context.Context, endpoint map[string]any, message string) {
			_, err := create(ctx, "FooCluster", map[string]any{"controlPlaneEndpoint": endpoint})
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("a host without port", map[string]any{"host": "a"}, "host and port must be set together"),
		Entry("a port without host", map[string]any{"port": 6443}, "host and port must be set together"),
		Entry("a port that is none", map[string]any{"host": "a", "port": 65536}, "should be less than or equal to 65535"),
		Entry("an empty endpoint", map[string]any{}, "should have at least 1 properties"),
	)
})

var _ = Describe("FooClusterTemplate", func() {
	It("refuses an endpoint", func(ctx context.Context) {
		endpoint := map[string]any{"host": "a", "port": 6443}
		_, err := create(ctx, "FooClusterTemplate", template(map[string]any{"controlPlaneEndpoint": endpoint}))
		Expect(err).To(MatchError(ContainSubstring("controlPlaneEndpoint must not be set in a template")))
	})
})
