//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"context"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// templates holds, for each kind of template, a change of its spec.
var templates = map[string]any{
	"FooControlPlaneTemplate": map[string]any{"kubeadmConfigSpec": map[string]any{"preKubeadmCommands": []string{"true"}}},
	"FooClusterTemplate":      map[string]any{"identityRef": map[string]any{"name": "other"}},
	"FooMachineTemplate":      map[string]any{"instanceType": "large"},
	"FooMachinePoolTemplate":  map[string]any{"template": map[string]any{"instanceType": "large"}},
}

var _ = Describe("A template", func() {
	for kind, change := range templates {
		It(kind+" may be changed in a dry run of the topology controller, and in nothing else", func(ctx SpecContext) {
			object := fixture(ctx, "v1beta2", kind, nil)
			Expect(environment.Client.Create(ctx, object)).To(Succeed())
			apply := func(annotations map[string]string, options ...client.ApplyOption) error {
				patch := merged(valid[object.GroupVersionKind()], map[string]any{"spec": map[string]any{"template": map[string]any{"spec": change}}})
				patch.SetNamespace(object.GetNamespace())
				patch.SetName(object.GetName())
				patch.SetAnnotations(annotations)
				return environment.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(patch),
					append(options, client.FieldOwner("capi-topology"), client.ForceOwnership)...)
			}
			asked := map[string]string{clusterv1.TopologyDryRunAnnotation: ""}

			Expect(apply(asked, client.DryRunAll)).To(Succeed())
			Expect(apply(nil, client.DryRunAll)).To(MatchError(ContainSubstring("Forbidden")), "a dry run of somebody else")
			Expect(apply(asked)).To(MatchError(ContainSubstring("Forbidden")), "no dry run")
		})
	}

	It("may get other labels and annotations", func(ctx SpecContext) {
		for kind := range templates {
			object := fixture(ctx, "v1beta2", kind, nil)
			Expect(environment.Client.Create(ctx, object)).To(Succeed())
			Expect(environment.Client.Patch(ctx, object, mergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}))).To(Succeed())
		}
	})
})

var _ = Describe("The version of a FooControlPlane", func() {
	for _, version := range []string{"v1beta1", "v1beta2"} {
		It("gets a v in front in "+version, func(ctx SpecContext) {
			object := fixture(ctx, version, "FooControlPlane", map[string]any{"spec": map[string]any{"version": "1.36.3"}})
			Expect(environment.Client.Create(ctx, object)).To(Succeed())
			for _, read := range []string{"v1beta1", "v1beta2"} {
				got, _, err := unstructured.NestedString(get(ctx, object, read).Object, "spec", "version")
				Expect(err).NotTo(HaveOccurred())
				Expect(got).To(Equal("v1.36.3"))
			}
		})
	}

	It("goes back from one that no Machine may ever have, and not below all of them", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooControlPlane", map[string]any{"spec": map[string]any{"version": "v1.36.30"}})
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		controlPlane := &controlplanev1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), controlPlane)).To(Succeed())
		controlPlane.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
		controlPlane.Status.Versions = []clusterv1.StatusVersion{{Version: "v1.36.3", Replicas: 3}, {Version: "v1.36.30", Replicas: 1}}
		Expect(environment.Client.Status().Update(ctx, controlPlane)).To(Succeed())
		version := func(version string) error {
			return environment.Client.Patch(ctx, controlPlane, mergePatch(map[string]any{"spec": map[string]any{"version": version}}))
		}
		Expect(version("v1.36.2")).To(MatchError(ContainSubstring("must not be below v1.36.3, the oldest version in the control plane")))
		Expect(version("v1.36.3")).To(Succeed())
	})
})

var _ = Describe("The scale of a FooControlPlane", func() {
	scale := func(ctx SpecContext, object client.Object, replicas int32) error {
		wanted := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		return environment.Client.SubResource("scale").Update(ctx, object, client.WithSubResourceBody(wanted))
	}

	It("follows the rule of spec.replicas", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooControlPlane", nil)
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		controlPlane := &controlplanev1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), controlPlane)).To(Succeed())
		Expect(scale(ctx, controlPlane, 5)).To(Succeed())
		Expect(scale(ctx, controlPlane, 4)).To(MatchError(ContainSubstring("spec: Invalid value: replicas must be odd")))
		Expect(scale(ctx, controlPlane, 0)).To(MatchError(ContainSubstring("spec.replicas in body should be greater than or equal to 1")))
	})

	It("follows the rules that join it to other fields", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooControlPlane", map[string]any{"spec": map[string]any{"rollout": map[string]any{
			"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 0}},
		}}})
		Expect(environment.Client.Create(ctx, object)).To(Succeed())
		controlPlane := &controlplanev1.FooControlPlane{}
		Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), controlPlane)).To(Succeed())
		err := scale(ctx, controlPlane, 1)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(`spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: "0": must be 1 with fewer than 3 replicas`)))
		Expect(err).To(MatchError(ContainSubstring("see kubectl explain foocontrolplanes.spec.rollout.strategy.rollingUpdate.maxSurge")))
		Expect(scale(ctx, controlPlane, 5)).To(Succeed())
	})

	It("of none is not found", func(ctx SpecContext) {
		object := fixture(ctx, "v1beta2", "FooControlPlane", nil)
		Expect(apierrors.IsNotFound(scale(ctx, object, 3))).To(BeTrue())
	})
})

var _ = Describe("The zones of a FooCluster", func() {
	for _, version := range []string{"v1beta1", "v1beta2"} {
		It("may change in "+version, func(ctx SpecContext) {
			zones := func(names ...string) any {
				var list []map[string]any
				for _, name := range names {
					list = append(list, map[string]any{"name": name})
				}
				return map[string]any{"spec": map[string]any{"zones": list}}
			}
			object := fixture(ctx, version, "FooCluster", zones("zone-a", "zone-b"))
			Expect(environment.Client.Create(ctx, object)).To(Succeed())
			Expect(environment.Client.Patch(ctx, object, mergePatch(zones("zone-b")))).To(Succeed())
			got := &infrav1.FooCluster{}
			Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), got)).To(Succeed())
			Expect(got.Spec.Zones).To(Equal([]infrav1.FooClusterZone{{Name: "zone-b"}}))
		})
	}
})

var _ = Describe("An object that was valid once", func() {
	It("can be changed where it is not wrong", Serial, func(ctx SpecContext) {
		namespace, err := environment.CreateNamespace(ctx, "ratchet")
		Expect(err).NotTo(HaveOccurred())
		pool := &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fixtureName}}
		Expect(environment.Client.Create(ctx, pool)).To(Succeed())

		By("writing past the webhooks what they refuse")
		wrong := mergePatch(map[string]any{"spec": map[string]any{"providerIDList": []string{"foo:///a/1", "foo:///a/1"}}})
		write := func() error { return environment.Client.Patch(ctx, pool, wrong) }
		Expect(write()).To(MatchError(ContainSubstring("Duplicate value")))
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		Expect(environment.Client.Get(ctx, client.ObjectKey{Name: "foo-infrastructure-validation"}, hooks)).To(Succeed())
		Expect(environment.Client.Delete(ctx, hooks)).To(Succeed())
		Eventually(write).Should(Succeed(), "the API server watches which webhooks there are")
		hooks.ResourceVersion, hooks.UID = "", ""
		Expect(environment.Client.Create(ctx, hooks)).To(Succeed())
		other := &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "other-"}}
		other.Spec.ProviderIDList = []string{"foo:///a/1", "foo:///a/1"}
		Eventually(func() error { return environment.Client.Create(ctx, other.DeepCopy()) }).Should(MatchError(ContainSubstring("Duplicate value")), "the webhooks are back")

		Expect(environment.Client.Patch(ctx, pool, mergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{"instanceType": "large"}}}))).To(Succeed())
		Expect(environment.Client.Patch(ctx, pool, mergePatch(map[string]any{"metadata": map[string]any{"finalizers": []string{"example.com/a"}}}))).To(Succeed())
		Expect(environment.Client.Patch(ctx, pool, mergePatch(map[string]any{"spec": map[string]any{"providerIDList": []string{"foo:///a/1", "foo:///a/1", "foo:///a/1"}}}))).
			To(MatchError(ContainSubstring("providerIDList[2]: Duplicate value")))
	})
})

var _ = Describe("What is allowed but unwise", func() {
	It("is warned of once", func(ctx SpecContext) {
		warnings := &collectedWarnings{}
		config := rest.CopyConfig(environment.Config)
		config.WarningHandlerWithContext = warnings
		c, err := client.New(config, client.Options{Scheme: environment.Scheme})
		Expect(err).NotTo(HaveOccurred())
		days := map[string]any{"rollout": map[string]any{"before": map[string]any{"certificatesExpiryDays": 10}}, "replicas": 9}
		object := fixture(ctx, "v1beta2", "FooControlPlane", map[string]any{"spec": days})
		Expect(c.Create(ctx, object)).To(Succeed())
		Expect(warnings.take()).To(ConsistOf("spec.replicas is 9: etcd gets slower with each member; more than 7 bring no benefit (see kubectl explain foocontrolplanes.spec.replicas)"))
		Expect(c.Patch(ctx, object, mergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}))).To(Succeed())
		Expect(warnings.take()).To(BeEmpty())
		controlPlane := &controlplanev1.FooControlPlane{}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(object), controlPlane)).To(Succeed())
		Expect(c.SubResource("scale").Update(ctx, controlPlane, client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 11}}))).To(Succeed())
		Expect(warnings.take()).To(ConsistOf(HavePrefix("spec.replicas is 11: ")), "scaling warns too")

		old := fixture(ctx, "v1beta1", "FooCluster", nil)
		Expect(c.Create(ctx, old)).To(Succeed())
		Expect(warnings.take()).To(ConsistOf(ContainSubstring("infrastructure.cluster.x-k8s.io/v1beta1 FooCluster is deprecated")))
	})
})

var _ = Describe("Taints of Machines", Serial, func() {
	gate := func(on bool) {
		GinkgoHelper()
		Expect(feature.MutableGates.SetFromMap(map[string]bool{string(feature.MachineTaintPropagation): on})).To(Succeed())
	}
	taints := func(keys ...string) []map[string]any {
		var list []map[string]any
		for _, key := range keys {
			list = append(list, map[string]any{"key": key, "effect": "NoSchedule", "propagation": "Always"})
		}
		return list
	}
	within := map[string]func([]map[string]any) any{
		"v1beta1": func(list []map[string]any) any {
			return map[string]any{"spec": map[string]any{"machineTemplate": map[string]any{"taints": list}}}
		},
		"v1beta2": func(list []map[string]any) any {
			return map[string]any{"spec": map[string]any{"machineTemplate": map[string]any{"spec": map[string]any{"taints": list}}}}
		},
	}
	refused := MatchError(ContainSubstring("its feature gate MachineTaintPropagation is disabled"))
	for version, of := range within {
		It("are refused in "+version+" while Cluster API's feature gate is off", func(ctx SpecContext) {
			object := fixture(ctx, version, "FooControlPlane", of(taints("a")))
			Expect(environment.Client.Create(ctx, object.DeepCopy())).To(refused)
			Expect(environment.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("user"), client.DryRunAll)).To(refused)

			gate(true)
			DeferCleanup(gate, false)
			Expect(environment.Client.Create(ctx, object)).To(Succeed())
			gate(false)
			change := func(patch any) error { return environment.Client.Patch(ctx, object, mergePatch(patch)) }
			Expect(change(map[string]any{"spec": map[string]any{"replicas": 5}})).To(Succeed(), "what was there before is no obstacle")
			Expect(change(of(taints("a", "b")))).To(refused)
			Expect(change(of(taints()))).To(Succeed())
			Expect(change(of(taints("a")))).To(refused)
		})
	}
})

// collectedWarnings are the warnings of the API server.
type collectedWarnings struct {
	lock  sync.Mutex
	texts []string
}

// HandleWarningHeaderWithContext collects a warning.
func (w *collectedWarnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _ string, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.texts = append(w.texts, text)
}

func (w *collectedWarnings) take() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	texts := slices.Clone(w.texts)
	w.texts = nil
	return texts
}
