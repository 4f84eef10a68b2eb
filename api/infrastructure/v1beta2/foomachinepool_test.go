//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

var _ = Describe("FooMachinePool", func() {
	It("needs nothing", func(ctx context.Context) {
		created := &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "minimal"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Spec.Template.InstanceTypeOrDefault()).To(Equal(infrav1.DefaultInstanceType))

		var list infrav1.FooMachinePoolList
		Expect(env.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
	})

	It("keeps every field of its spec and status through the API server", func(ctx context.Context) {
		created := &infrav1.FooMachinePool{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "full"},
			Spec: infrav1.FooMachinePoolSpec{
				ProviderID:     "foo:///full",
				ProviderIDList: []string{"foo:///zone-a/i1", "foo:///zone-b/i2"},
				Template:       infrav1.FooMachinePoolMachineTemplate{InstanceType: "medium"},
				Strategy: infrav1.FooMachinePoolStrategy{
					MaxSurge: ptr.To(intstr.FromInt32(2)), MaxUnavailable: ptr.To(intstr.FromString("25%")),
					DeletePolicy: infrav1.RandomDeletePolicy, RolloutPaused: ptr.To(false),
					NodeJoinTimeoutSeconds: 60, MaxFailedReplacements: 5,
				},
			},
		}
		wantSpec := created.Spec.DeepCopy()
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Spec).To(BeEquivalentTo(*wantSpec))

		want := infrav1.FooMachinePoolStatus{
			Conditions: []metav1.Condition{{
				Type: infrav1.FooMachinePoolReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.FooMachinePoolReadyReason,
				LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
			}},
			Initialization:    infrav1.FooMachinePoolInitializationStatus{Provisioned: ptr.To(true)},
			Ready:             ptr.To(true),
			Replicas:          ptr.To[int32](0),
			DesiredReplicas:   ptr.To[int32](0),
			Revision:          "0123456789",
			UpdatedReplicas:   ptr.To[int32](0),
			AvailableReplicas: ptr.To[int32](0),
			FailedReplacements: infrav1.FailedReplacements{
				Revision: "0123456789", Count: 2, LastTime: metav1.NewTime(time.Now().Truncate(time.Second)), Message: "it did not join",
			},
			InfrastructureMachineKind: infrav1.InfrastructureMachineKind,
			Instances: []infrav1.FooMachinePoolInstanceStatus{{
				InstanceName:  "full-abcde",
				ProviderID:    "foo:///zone-a/i1",
				Addresses:     []clusterv1.MachineAddress{{Type: clusterv1.MachineInternalIP, Address: "10.0.0.2"}},
				FailureDomain: "zone-a",
				Version:       "v1.36.3",
				Revision:      "0123456789",
				State:         "Running",
				Ready:         ptr.To(false),
			}},
			NodeInfo:           infrav1.NodeInfo{Architecture: infrav1.ArchitectureArm64, OperatingSystem: "linux"},
			ObservedGeneration: 1,
		}
		created.Status = *want.DeepCopy()
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())
		Expect(created.Status).To(BeEquivalentTo(want))
	})

	DescribeTable("refuses a strategy that could do harm",
		func(ctx context.Context, strategy infrav1.FooMachinePoolStrategy, message string) {
			created := &infrav1.FooMachinePool{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "strategy-"},
				Spec:       infrav1.FooMachinePoolSpec{Strategy: strategy},
			}
			err := env.Client.Create(ctx, created)
			if message == "" {
				Expect(err).NotTo(HaveOccurred())
				return
			}
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("both zero", infrav1.FooMachinePoolStrategy{
			MaxSurge: ptr.To(intstr.FromInt32(0)), MaxUnavailable: ptr.To(intstr.FromString("0%")),
		}, "must not both be zero"),
		Entry("no surge, and by default none unavailable", infrav1.FooMachinePoolStrategy{MaxSurge: ptr.To(intstr.FromString("0%"))},
			"must not both be zero"),
		Entry("less than none", infrav1.FooMachinePoolStrategy{MaxUnavailable: ptr.To(intstr.FromInt32(-1))},
			"maxUnavailable must be a number of at least 0"),
		Entry("more than all", infrav1.FooMachinePoolStrategy{MaxSurge: ptr.To(intstr.FromString("101%"))},
			"a percentage from 0% to 100%"),
		Entry("an unknown policy", infrav1.FooMachinePoolStrategy{DeletePolicy: "Tallest"}, "supported values"),
		Entry("one at a time", infrav1.FooMachinePoolStrategy{
			MaxSurge: ptr.To(intstr.FromInt32(0)), MaxUnavailable: ptr.To(intstr.FromInt32(1)),
		}, ""),
		Entry("all at once", infrav1.FooMachinePoolStrategy{MaxSurge: ptr.To(intstr.FromString("100%"))}, ""),
	)

	It("takes 10000 provider IDs and no more", func(ctx context.Context) {
		created := &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "large"}}
		for i := range 10000 {
			created.Spec.ProviderIDList = append(created.Spec.ProviderIDList, fmt.Sprintf("foo:///zone-a/i%d", i))
		}
		Expect(env.Client.Create(ctx, created)).To(Succeed())

		created.Spec.ProviderIDList = append(created.Spec.ProviderIDList, "foo:///zone-a/one-too-many")
		err := env.Client.Update(ctx, created)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("spec.providerIDList: Too many: 10001: must have at most 10000 items")))
	})

	It("leaves infrastructureMachineKind out while it is not set", func(ctx context.Context) {
		// Cluster API takes an empty string for a kind of its own and would look for objects of
		// kind "List".
		created := &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kind"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		created.Status.Replicas = ptr.To[int32](1)
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())

		stored := asUnstructured(ctx, "FooMachinePool", created)
		Expect(stored.Object["status"]).To(Equal(map[string]any{"replicas": int64(1)}))
	})
})

var _ = Describe("FooMachinePoolTemplate", func() {
	DescribeTable("refuses", func(ctx context.Context, spec map[string]any) {
		_, err := create(ctx, "FooMachinePoolTemplate", template(spec))
		Expect(err).To(MatchError(ContainSubstring("providerID and providerIDList must not be set in a template")))
	},
		Entry("a provider ID", map[string]any{"providerID": "foo:///a"}),
		Entry("provider IDs", map[string]any{"providerIDList": []any{"foo:///a/b"}}),
	)
})
