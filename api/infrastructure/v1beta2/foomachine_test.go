//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

var _ = Describe("FooMachine", func() {
	It("needs nothing", func(ctx context.Context) {
		created := &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "minimal"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Spec.InstanceTypeOrDefault()).To(Equal(infrav1.DefaultInstanceType))

		var list infrav1.FooMachineList
		Expect(env.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
	})

	It("keeps every field of its spec and status through the API server", func(ctx context.Context) {
		created := &infrav1.FooMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "full"},
			Spec:       infrav1.FooMachineSpec{ProviderID: "foo:///zone-a/i1", InstanceType: "medium"},
		}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Spec.InstanceTypeOrDefault()).To(Equal("medium"))
		want := infrav1.FooMachineStatus{
			Conditions: []metav1.Condition{{
				Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.FooMachineReadyReason,
				LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
			}},
			Initialization: infrav1.FooMachineInitializationStatus{Provisioned: ptr.To(true)},
			Addresses: []clusterv1.MachineAddress{
				{Type: clusterv1.MachineHostName, Address: "full"}, {Type: clusterv1.MachineInternalIP, Address: "10.0.0.2"},
			},
			FailureDomain:      "zone-a",
			InstanceID:         "i1",
			InstanceState:      "Running",
			InstanceType:       "medium",
			BootstrapState:     "Succeeded",
			ObservedGeneration: 1,
		}
		created.Status = *want.DeepCopy()
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())
		Expect(created.Status).To(BeEquivalentTo(want))
	})

	DescribeTable("refuses with a clear message",
		func(ctx context.Context, spec map[string]any, message string) {
			_, err := create(ctx, "FooMachine", spec)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("an empty provider ID", map[string]any{"providerID": ""}, "spec.providerID in body should be at least 1 chars long"),
		Entry("an empty instance type", map[string]any{"instanceType": ""}, "spec.instanceType in body should be at least 1 chars long"),
		Entry("a failure domain, which stands in the Machine",
			map[string]any{"failureDomain": "zone-a"}, `unknown field "spec.failureDomain"`),
	)

	It("refuses a state that is none", func(ctx context.Context) {
		created := &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "state"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		created.Status.InstanceState = "Sleeping"
		err := env.Client.Status().Update(ctx, created)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(`supported values: "Pending", "Running", "Stopped", "Deleting", "Failed"`)))
	})
})

var _ = Describe("FooMachineTemplate", func() {
	It("reports capacity and node info in its status", func(ctx context.Context) {
		created := &infrav1.FooMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "capacity"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		created.Status = infrav1.FooMachineTemplateStatus{
			Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi")},
			NodeInfo: infrav1.NodeInfo{Architecture: infrav1.ArchitectureAmd64, OperatingSystem: "linux"},
		}
		want := created.Status.DeepCopy()
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())
		Expect(created.Status.Capacity.Cpu().Equal(*want.Capacity.Cpu())).To(BeTrue())
		Expect(created.Status.Capacity.Memory().Equal(*want.Capacity.Memory())).To(BeTrue())
		Expect(created.Status.NodeInfo).To(Equal(want.NodeInfo))
	})

	It("refuses a provider ID", func(ctx context.Context) {
		_, err := create(ctx, "FooMachineTemplate", template(map[string]any{"providerID": "foo:///a/b"}))
		Expect(err).To(MatchError(ContainSubstring("providerID must not be set in a template")))
	})
})
