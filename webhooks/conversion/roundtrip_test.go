// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	conversionutil "sigs.k8s.io/cluster-api/util/conversion"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta1"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

func hubControlPlane() *controlplanev1.FooControlPlane {
	hub := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cp"}}
	hub.Spec.Replicas = ptr.To[int32](3)
	hub.Spec.Version = "v1.36.3"
	hub.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FooMachineTemplate", Name: "t",
	}
	return hub
}

func down(t *testing.T, hub *controlplanev1.FooControlPlane) *controlplanev1beta1.FooControlPlane {
	t.Helper()
	spoke := &controlplanev1beta1.FooControlPlane{}
	NewWithT(t).Expect(controlPlanes.toSpoke(t.Context(), hub, spoke)).To(Succeed())
	return spoke
}

func up(t *testing.T, spoke *controlplanev1beta1.FooControlPlane) *controlplanev1.FooControlPlane {
	t.Helper()
	hub := &controlplanev1.FooControlPlane{}
	NewWithT(t).Expect(controlPlanes.toHub(t.Context(), spoke, hub)).To(Succeed())
	return hub
}

func TestWhatFitsNeedsNoAnnotation(t *testing.T) {
	g := NewWithT(t)
	hub := hubControlPlane()
	hub.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](90)
	hub.Spec.Remediation.MaxRetry = ptr.To[int32](2)
	spoke := down(t, hub)
	g.Expect(spoke.Annotations).To(BeEmpty())
	g.Expect(spoke.Spec.MachineTemplate.NodeDrainTimeout).To(HaveValue(Equal(metav1.Duration{Duration: 90 * time.Second})))
	g.Expect(spoke.Spec.MachineTemplate.InfrastructureRef).To(Equal(corev1.ObjectReference{
		APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "FooMachineTemplate", Namespace: "ns", Name: "t",
	}))
	back := up(t, spoke)
	g.Expect(back).To(Equal(hub))
}

func TestWhatTheHubCannotHoldComesBackUntilItIsChanged(t *testing.T) {
	g := NewWithT(t)
	given := down(t, hubControlPlane())
	given.Spec.MachineTemplate.InfrastructureRef.Namespace = ""
	given.Spec.MachineTemplate.NodeDrainTimeout = &metav1.Duration{Duration: 1500 * time.Millisecond}
	hub := up(t, given.DeepCopy())
	g.Expect(hub.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds).To(HaveValue(Equal(int32(1))))
	g.Expect(hub.Annotations).To(HaveKey(spokeDataAnnotation))
	g.Expect(hub.Annotations[spokeDataAnnotation]).NotTo(ContainSubstring("v1.36.3"), "only the difference is kept")

	read := down(t, hub)
	g.Expect(read.Spec).To(Equal(given.Spec))
	g.Expect(read.Annotations).To(BeEmpty())

	hub.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](7)
	g.Expect(down(t, hub).Spec.MachineTemplate.NodeDrainTimeout).To(HaveValue(Equal(metav1.Duration{Duration: 7 * time.Second})))
}

func TestWhatTheSpokeDoesNotKnowSurvivesAChange(t *testing.T) {
	g := NewWithT(t)
	hub := hubControlPlane()
	hub.Spec.KubeadmConfigSpec.JoinConfiguration.Timeouts.DiscoverySeconds = ptr.To[int32](42)
	hub.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Path: "/a", Append: ptr.To(false)}}
	hub.Status.Etcd.Voters = ptr.To[int32](3)
	spoke := down(t, hub)
	g.Expect(spoke.Annotations).To(HaveKey(conversionutil.DataAnnotation))

	spoke.Spec.Replicas = ptr.To[int32](5)
	written := up(t, spoke)
	hub.Spec.Replicas = ptr.To[int32](5)
	g.Expect(written.Annotations).To(BeEmpty())
	g.Expect(written.Spec).To(Equal(hub.Spec))
	g.Expect(written.Status).To(Equal(hub.Status))
}

func TestWhatIsRemovedInTheSpokeIsRemoved(t *testing.T) {
	g := NewWithT(t)
	hub := hubControlPlane()
	hub.Spec.Remediation.MaxRetry = ptr.To[int32](2)
	hub.Spec.Rollout.Before.CertificatesExpiryDays = 30
	hub.Spec.KubeadmConfigSpec.JoinConfiguration.Timeouts.DiscoverySeconds = ptr.To[int32](42)
	spoke := down(t, hub)
	spoke.Spec.RemediationStrategy, spoke.Spec.RolloutBefore = nil, nil
	written := up(t, spoke)
	g.Expect(written.Spec.Remediation).To(BeZero())
	g.Expect(written.Spec.Rollout).To(BeZero())
	g.Expect(written.Spec.KubeadmConfigSpec.JoinConfiguration.Timeouts.DiscoverySeconds).To(HaveValue(Equal(int32(42))))
}

func TestAnnotationsOfSomebodyElse(t *testing.T) {
	for _, text := range []string{"", "no JSON", `{"spec":{"of":"0123456789abcdef","patch":{"version":"v1.0.0"}}}`, `{"spec":{"patch":7}}`} {
		hub := hubControlPlane()
		hub.Annotations = map[string]string{spokeDataAnnotation: text}
		spoke := down(t, hub)
		g := NewWithT(t)
		g.Expect(spoke.Spec.Version).To(Equal("v1.36.3"))
		g.Expect(spoke.Annotations).NotTo(HaveKey(spokeDataAnnotation))
	}
	for _, text := range []string{"", "no JSON", "7", `{"spec":{"version":"v1.0.0"},"status":7}`, `{"spec":{"version":7,"replicas":5}}`} {
		spoke := down(t, hubControlPlane())
		spoke.Annotations = map[string]string{conversionutil.DataAnnotation: text, "other": "stays"}
		written := up(t, spoke)
		g := NewWithT(t)
		g.Expect(written.Annotations).To(Equal(map[string]string{"other": "stays"}), text)
		g.Expect(written.Spec).To(Equal(hubControlPlane().Spec), text)
	}
}

func TestReferencesTakeTheVersionThatIsServed(t *testing.T) {
	g := NewWithT(t)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "example.com", Version: "v7"}})
	mapper.Add(schema.GroupVersionKind{Group: "example.com", Version: "v7", Kind: "AnyTemplate"}, meta.RESTScopeNamespace)
	of := schema.GroupKind{Group: "example.com", Kind: "AnyTemplate"}
	g.Expect(servedVersion(mapper, of)).To(Equal("example.com/v7"))
	of.Kind = "Gone"
	g.Expect(servedVersion(mapper, of)).To(Equal("example.com/v1beta2"))
	g.Expect(servedVersion(mapper, schema.GroupKind{})).To(BeEmpty())
}

// failingMapper cannot reach the API server.
type failingMapper struct{ meta.RESTMapper }

func (failingMapper) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, errors.New("connection refused")
}

// A reference must not get another version because of an error that passes.
func TestReferencesDoNotGuessAVersion(t *testing.T) {
	g := NewWithT(t)
	spoke := &controlplanev1beta1.FooControlPlane{}
	err := fooControlPlane(failingMapper{}).toSpoke(t.Context(), hubControlPlane(), spoke)
	g.Expect(err).To(MatchError("looking up the version of FooMachineTemplate.infrastructure.cluster.x-k8s.io in the API server: connection refused"))
}

// Cluster API's MachinePool controller panics if a pool reports a failure.
func TestPoolsReportNoFailure(t *testing.T) {
	g := NewWithT(t)
	hub := &infrav1.FooMachinePool{}
	hub.Status.Initialization.Provisioned = ptr.To(true)
	hub.Status.Conditions = []metav1.Condition{{Type: infrav1.FooMachinePoolStalledCondition, Status: metav1.ConditionTrue, Reason: "Any"}}
	spoke := &infrav1beta1.FooMachinePool{}
	g.Expect(fooMachinePool.toSpoke(t.Context(), hub, spoke)).To(Succeed())
	g.Expect(spoke.Status.Ready).To(BeTrue())
	g.Expect(spoke.Status.FailureReason).To(BeNil())
	g.Expect(spoke.Status.FailureMessage).To(BeNil())
	g.Expect(spoke.Status.Conditions).To(BeEmpty())
}
