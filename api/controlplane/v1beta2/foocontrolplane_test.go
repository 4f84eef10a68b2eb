//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

var _ conditions.Setter = &controlplanev1.FooControlPlane{}

func minimalControlPlane(namespace string) *controlplanev1.FooControlPlane {
	return &controlplanev1.FooControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "control-plane-"},
		Spec: controlplanev1.FooControlPlaneSpec{
			Version: "v1.36.3",
			MachineTemplate: controlplanev1.FooControlPlaneMachineTemplate{
				Spec: controlplanev1.FooControlPlaneMachineTemplateSpec{
					InfrastructureRef: clusterv1.ContractVersionedObjectReference{
						APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FooMachineTemplate", Name: "control-plane",
					},
				},
			},
		},
	}
}

var _ = Describe("FooControlPlane", func() {
	var namespace string

	BeforeEach(func(ctx context.Context) {
		var err error
		namespace, err = env.CreateNamespace(ctx, "control-plane")
		Expect(err).NotTo(HaveOccurred())
	})

	It("needs a version and an infrastructure template only, and has one replica by default", func(ctx context.Context) {
		created := minimalControlPlane(namespace)
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Spec.Replicas).To(HaveValue(BeEquivalentTo(1)))

		var list controlplanev1.FooControlPlaneList
		Expect(env.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
	})

	It("keeps every field of its spec and status through the API server", func(ctx context.Context) {
		created := minimalControlPlane(namespace)
		fillSpec(&created.Spec)
		wantSpec := created.Spec.DeepCopy()
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Spec).To(BeEquivalentTo(*wantSpec))

		fillStatus(&created.Status)
		wantStatus := created.Status.DeepCopy()
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())
		Expect(created.Status).To(BeEquivalentTo(*wantStatus))
	})

	It("is scaled through the scale subresource", func(ctx context.Context) {
		created := minimalControlPlane(namespace)
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		created.Status.Replicas = ptr.To[int32](1)
		created.Status.Selector = "cluster.x-k8s.io/control-plane"
		Expect(env.Client.Status().Update(ctx, created)).To(Succeed())

		scale := &autoscalingv1.Scale{}
		Expect(env.Client.SubResource("scale").Get(ctx, created, scale)).To(Succeed())
		Expect(scale.Spec.Replicas).To(BeEquivalentTo(1))
		Expect(scale.Status.Replicas).To(BeEquivalentTo(1))
		Expect(scale.Status.Selector).To(Equal("cluster.x-k8s.io/control-plane"))

		scale.Spec.Replicas = 3
		Expect(env.Client.SubResource("scale").Update(ctx, created, client.WithSubResourceBody(scale))).To(Succeed())
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(created), created)).To(Succeed())
		Expect(created.Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))

		scale = &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
		err := env.Client.SubResource("scale").Update(ctx, created, client.WithSubResourceBody(scale))
		Expect(err).To(MatchError(ContainSubstring("replicas must be odd")))
	})

	It("takes an even number of replicas with external etcd", func(ctx context.Context) {
		created := minimalControlPlane(namespace)
		created.Spec.Replicas = ptr.To[int32](2)
		created.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External = bootstrapv1.ExternalEtcd{
			Endpoints: []string{"https://etcd:2379"}, CAFile: "/ca", CertFile: "/cert", KeyFile: "/key",
		}
		Expect(env.Client.Create(ctx, created)).To(Succeed())
	})

	DescribeTable("accepts versions",
		func(ctx context.Context, version string) {
			created := minimalControlPlane(namespace)
			created.Spec.Version = version
			Expect(env.Client.Create(ctx, created)).To(Succeed())
		},
		Entry("release", "v1.36.3"),
		Entry("without v, which a webhook may add", "1.36.3"),
		Entry("pre-release", "v1.37.0-alpha.1"),
		Entry("with build", "v1.36.3+build.1"),
	)

	DescribeTable("refuses with a clear message",
		func(ctx context.Context, change func(*controlplanev1.FooControlPlaneSpec), message string) {
			refused := minimalControlPlane(namespace)
			change(&refused.Spec)
			err := env.Client.Create(ctx, refused)
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("no replica", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Replicas = ptr.To[int32](0)
		}, "spec.replicas in body should be greater than or equal to 1"),
		Entry("two replicas", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Replicas = ptr.To[int32](2)
		}, "spec: Invalid value: replicas must be odd"),
		Entry("no version", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Version = ""
		}, "spec.version: Required value"),
		Entry("a version that is none", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Version = "latest"
		}, `version must be a semantic version such as v1.36.3`),
		Entry("no infrastructure template", func(s *controlplanev1.FooControlPlaneSpec) {
			s.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{}
		}, "spec.machineTemplate: Required value"),
		Entry("a surge of two", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Rollout.Strategy = controlplanev1.FooControlPlaneRolloutStrategy{
				Type: controlplanev1.RollingUpdateStrategyType,
				RollingUpdate: controlplanev1.FooControlPlaneRolloutStrategyRollingUpdate{
					MaxSurge: ptr.To(intstr.FromInt32(2)),
				},
			}
		}, "maxSurge must be 0 or 1"),
		Entry("a surge in percent", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Rollout.Strategy = controlplanev1.FooControlPlaneRolloutStrategy{
				Type: controlplanev1.RollingUpdateStrategyType,
				RollingUpdate: controlplanev1.FooControlPlaneRolloutStrategyRollingUpdate{
					MaxSurge: ptr.To(intstr.FromString("50%")),
				},
			}
		}, "maxSurge must be 0 or 1"),
		Entry("an unknown strategy", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Rollout.Strategy.Type = "Recreate"
		}, `spec.rollout.strategy.type: Unsupported value: "Recreate": supported values: "RollingUpdate"`),
		Entry("a rollout too close to expiry", func(s *controlplanev1.FooControlPlaneSpec) {
			s.Rollout.Before.CertificatesExpiryDays = 3
		}, "should be greater than or equal to 7"),
		Entry("a name without random part", func(s *controlplanev1.FooControlPlaneSpec) {
			s.MachineNaming.Template = "{{ .cluster.name }}-control-plane"
		}, "template must contain {{ .random }}"),
		Entry("a negative timeout", func(s *controlplanev1.FooControlPlaneSpec) {
			s.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](-1)
		}, "should be greater than or equal to 0"),
	)

	It("has no terminal failure fields", func(ctx context.Context) {
		created := minimalControlPlane(namespace)
		Expect(env.Client.Create(ctx, created)).To(Succeed())
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"failureReason":"Broken","failureMessage":"broken"}}`))
		err := env.Client.Status().Patch(ctx, created, patch, client.FieldValidation(metav1.FieldValidationStrict))
		Expect(err).To(MatchError(And(
			ContainSubstring(`unknown field "status.failureReason"`), ContainSubstring(`unknown field "status.failureMessage"`),
		)))
	})

	It("has a CRD as Cluster API wants it", func(ctx context.Context) {
		for _, kind := range []string{"FooControlPlane", "FooControlPlaneTemplate"} {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			name := contract.CalculateCRDName(controlplanev1.GroupVersion.Group, kind)
			Expect(env.Client.Get(ctx, client.ObjectKey{Name: name}, crd)).To(Succeed())
			Expect(crd.Spec.Scope).To(Equal(apiextensionsv1.NamespaceScoped))
			Expect(crd.Spec.Names.Categories).To(ContainElement("cluster-api"))
			Expect(crd.Labels).To(And(
				HaveKeyWithValue("cluster.x-k8s.io/v1beta2", "v1beta2"),
				HaveKeyWithValue("cluster.x-k8s.io/provider", "control-plane-foo"),
				HaveKeyWithValue("clusterctl.cluster.x-k8s.io", ""),
			))
		}
	})
})

func fillSpec(spec *controlplanev1.FooControlPlaneSpec) {
	spec.Replicas = ptr.To[int32](3)
	spec.MachineTemplate.ObjectMeta = clusterv1.ObjectMeta{
		Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
	}
	spec.MachineTemplate.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Scanned"}}
	spec.MachineTemplate.Spec.Deletion = controlplanev1.FooControlPlaneMachineTemplateDeletionSpec{
		NodeDrainTimeoutSeconds:        ptr.To[int32](60),
		NodeVolumeDetachTimeoutSeconds: ptr.To[int32](0),
		NodeDeletionTimeoutSeconds:     ptr.To[int32](10),
	}
	spec.MachineTemplate.Spec.Taints = []clusterv1.MachineTaint{{
		Key: "dedicated", Value: "control-plane", Effect: corev1.TaintEffectNoSchedule, Propagation: clusterv1.MachineTaintPropagationAlways,
	}}
	spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP256
	spec.Rollout = controlplanev1.FooControlPlaneRolloutSpec{
		Before: controlplanev1.FooControlPlaneRolloutBeforeSpec{CertificatesExpiryDays: 30},
		After:  metav1.Date(2026, time.March, 9, 9, 0, 0, 0, time.Local),
		Strategy: controlplanev1.FooControlPlaneRolloutStrategy{
			Type:          controlplanev1.RollingUpdateStrategyType,
			RollingUpdate: controlplanev1.FooControlPlaneRolloutStrategyRollingUpdate{MaxSurge: ptr.To(intstr.FromInt32(0))},
		},
	}
	spec.Remediation = controlplanev1.FooControlPlaneRemediationSpec{
		MaxRetry: ptr.To[int32](3), RetryPeriodSeconds: ptr.To[int32](60),
		MinHealthyPeriodSeconds: ptr.To(controlplanev1.DefaultMinHealthyPeriodSeconds),
	}
	spec.MachineNaming.Template = "{{ .cluster.name }}-{{.random}}"
}

func fillStatus(status *controlplanev1.FooControlPlaneStatus) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	*status = controlplanev1.FooControlPlaneStatus{
		Conditions: []metav1.Condition{{
			Type: controlplanev1.AvailableCondition, Status: metav1.ConditionTrue,
			Reason: controlplanev1.AvailableReason, LastTransitionTime: now,
		}},
		Initialization:    controlplanev1.FooControlPlaneInitializationStatus{ControlPlaneInitialized: ptr.To(true)},
		Selector:          "cluster.x-k8s.io/cluster-name=a",
		Replicas:          ptr.To[int32](3),
		ReadyReplicas:     ptr.To[int32](2),
		AvailableReplicas: ptr.To[int32](1),
		UpToDateReplicas:  ptr.To[int32](0),
		Versions: []clusterv1.StatusVersion{
			{Version: "v1.35.4", Replicas: 1}, {Version: "v1.36.3", Replicas: 2},
		},
		Version:            "v1.35.4",
		ObservedGeneration: 1,
		LastRemediation: controlplanev1.LastRemediationStatus{
			Machine: "gone", Time: now, RetryCount: ptr.To[int32](0),
		},
	}
}
