//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta1"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// conversionAnnotations are the annotations that conversion may leave on an object.
var conversionAnnotations = []string{"cluster.x-k8s.io/conversion-data", "cluster.x-k8s.io/conversion-data-v1beta1"}

var _ = Describe("Both versions of", func() {
	for _, group := range slices.Sorted(maps.Keys(kinds)) {
		for _, kind := range kinds[group] {
			It(kind+" are the same object", func(ctx SpecContext) {
				for _, version := range []string{"v1beta1", "v1beta2"} {
					object := fixture(ctx, version, kind, nil)
					given := object.DeepCopy()
					Expect(environment.Client.Create(ctx, object)).To(Succeed())

					for _, other := range []string{"v1beta2", "v1beta1"} {
						Expect(get(ctx, object, other).GetKind()).To(Equal(kind))
					}
					Expect(specOf(get(ctx, object, version))).To(Equal(specOf(given)), "what was written in %s is read in it", version)

					By("writing what was read in the other version")
					read := get(ctx, object, map[string]string{"v1beta1": "v1beta2", "v1beta2": "v1beta1"}[version])
					read.SetLabels(map[string]string{"touched": "yes"})
					Expect(environment.Client.Update(ctx, read)).To(Succeed())
					Expect(specOf(get(ctx, object, version))).To(Equal(specOf(given)))
				}
			})

			It(kind+" are labelled with the contracts, and v1beta2 is stored", func(ctx SpecContext) {
				crd := &apiextensionsv1.CustomResourceDefinition{}
				Expect(environment.Client.Get(ctx, client.ObjectKey{Name: contract.CalculateCRDName(group, kind)}, crd)).To(Succeed())
				Expect(crd.Labels).To(And(HaveKeyWithValue("cluster.x-k8s.io/v1beta1", "v1beta1"), HaveKeyWithValue("cluster.x-k8s.io/v1beta2", "v1beta2")))
				Expect(crd.Status.StoredVersions).To(Equal([]string{"v1beta2"}))
				for _, version := range crd.Spec.Versions {
					Expect(version.Served).To(BeTrue())
					Expect(version.Deprecated).To(Equal(version.Name == "v1beta1"))
				}
			})
		}
	}
})

var _ = Describe("An object of v1beta2", func() {
	It("is written without an annotation when it is not read in v1beta1", func(ctx SpecContext) {
		for kind := range valid {
			if kind.Version != "v1beta2" {
				continue
			}
			object := fixture(ctx, kind.Version, kind.Kind, nil)
			Expect(environment.Client.Create(ctx, object)).To(Succeed())
			for _, annotation := range conversionAnnotations {
				Expect(get(ctx, object, "v1beta2").GetAnnotations()).NotTo(HaveKey(annotation), kind.String())
			}
		}
	})

	It("keeps what v1beta1 does not know when it is changed through v1beta1", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooControlPlane", map[string]any{"spec": map[string]any{"kubeadmConfigSpec": map[string]any{
			"joinConfiguration": map[string]any{"timeouts": map[string]any{"discoverySeconds": 42}},
		}}})
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		read := get(ctx, object, "v1beta1")
		Expect(unstructured.SetNestedField(read.Object, int64(5), "spec", "replicas")).To(Succeed())
		Expect(environment.Client.Update(ctx, read)).To(Succeed())

		written := &controlplanev1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), written)).To(Succeed())
		Expect(written.Spec.Replicas).To(HaveValue(Equal(int32(5))))
		Expect(written.Spec.KubeadmConfigSpec.JoinConfiguration.Timeouts.DiscoverySeconds).To(HaveValue(Equal(int32(42))))
		Expect(written.Annotations).NotTo(HaveKey(conversionAnnotations[0]))
	})
})

var _ = Describe("An object of v1beta1", func() {
	It("is taken without the annotation of conversion that somebody wrote by hand", func(ctx SpecContext) {
		for kind := range valid {
			if kind.Version != "v1beta1" {
				continue
			}
			object := fixture(ctx, kind.Version, kind.Kind, nil)
			given := specOf(object.DeepCopy())
			object.SetAnnotations(map[string]string{conversionAnnotations[0]: "x", conversionAnnotations[1]: "x"})
			Expect(environment.Client.Create(ctx, object)).To(Succeed(), kind.String())
			read := get(ctx, object, "v1beta1")
			Expect(specOf(read)).To(Equal(given), kind.String())
			Expect(get(ctx, object, "v1beta2").GetAnnotations()).NotTo(HaveKeyWithValue(BeElementOf(conversionAnnotations), "x"), kind.String())
		}
	})
})

var _ = Describe("The status of v1beta1", func() {
	It("of a FooControlPlane is what the v1beta1 contract asks for", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooControlPlane", nil)
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		hub := &controlplanev1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), hub)).To(Succeed())
		now := metav1.Now().Rfc3339Copy()
		hub.Status = controlplanev1.FooControlPlaneStatus{
			Initialization: controlplanev1.FooControlPlaneInitializationStatus{ControlPlaneInitialized: ptr.To(true)},
			Replicas:       ptr.To[int32](3), ReadyReplicas: ptr.To[int32](2), AvailableReplicas: ptr.To[int32](1), UpToDateReplicas: ptr.To[int32](3),
			Version: "v1.36.3",
			Conditions: []metav1.Condition{
				{Type: controlplanev1.AvailableCondition, Status: metav1.ConditionFalse, Reason: "NotAvailable", Message: "no quorum", LastTransitionTime: now},
				{Type: controlplanev1.ScalingUpCondition, Status: metav1.ConditionTrue, Reason: "ScalingUp", LastTransitionTime: now},
			},
		}
		Expect(environment.Client.Status().Update(ctx, hub)).To(Succeed())

		spoke := &controlplanev1beta1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), spoke)).To(Succeed())
		status := spoke.Status
		Expect(status.Initialized).To(BeTrue())
		Expect(status.Ready).To(BeTrue())
		Expect(status.ExternalManagedControlPlane).To(BeFalse())
		Expect([]int32{status.Replicas, status.ReadyReplicas, status.UpdatedReplicas, status.UnavailableReplicas}).To(Equal([]int32{3, 2, 3, 2}))
		Expect(status.Version).To(HaveValue(Equal("v1.36.3")))
		Expect(status.FailureReason).To(BeNil())
		Expect(status.FailureMessage).To(BeNil())
		Expect(status.Conditions).To(HaveLen(2), "conditions that are false when all is well are no v1beta1 conditions")
		Expect(status.Conditions[0]).To(And(HaveField("Type", clusterv1beta1.ReadyCondition), HaveField("Severity", clusterv1beta1.ConditionSeverityWarning)))
		Expect(status.V1Beta2.Conditions).To(HaveLen(2))

		By("writing it back")
		spoke.Labels = map[string]string{"touched": "yes"}
		Expect(environment.Client.Update(ctx, spoke)).To(Succeed())
		Expect(environment.Client.Status().Update(ctx, spoke)).To(Succeed())
		again := &controlplanev1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), again)).To(Succeed())
		Expect(again.Status).To(Equal(hub.Status))
		Expect(again.Annotations).To(BeEmpty())
	})

	It("of a FooCluster has the failure domains as a map", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooCluster", nil)
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		hub := &infrav1.FooCluster{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), hub)).To(Succeed())
		hub.Status.Initialization.Provisioned = ptr.To(true)
		hub.Status.FailureDomains = []clusterv1.FailureDomain{{Name: "a", ControlPlane: ptr.To(true)}, {Name: "b", ControlPlane: ptr.To(false)}}
		Expect(environment.Client.Status().Update(ctx, hub)).To(Succeed())

		spoke := &infrav1beta1.FooCluster{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), spoke)).To(Succeed())
		Expect(spoke.Status.Ready).To(BeTrue())
		Expect(spoke.Status.FailureDomains).To(Equal(clusterv1beta1.FailureDomains{"a": {ControlPlane: true}, "b": {}}))
		Expect(spoke.Annotations).NotTo(HaveKey(conversionAnnotations[0]), "everything fits")
	})

	It("of a FooMachine has the zone in the spec", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooMachine", nil)
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		hub := &infrav1.FooMachine{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), hub)).To(Succeed())
		hub.Status.Initialization.Provisioned = ptr.To(true)
		hub.Status.FailureDomain = "a"
		Expect(environment.Client.Status().Update(ctx, hub)).To(Succeed())

		spoke := &infrav1beta1.FooMachine{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), spoke)).To(Succeed())
		Expect(spoke.Status.Ready).To(BeTrue())
		Expect(spoke.Spec.FailureDomain).To(HaveValue(Equal("a")))
	})
})
