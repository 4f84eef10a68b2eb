// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

func TestTagsOfTheFooCluster(t *testing.T) {
	scheme, err := manager.NewScheme()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	cluster := infratest.NewCluster("ns", "one")
	fooCluster := infratest.NewFooCluster(cluster)
	fooCluster.Spec.AdditionalTags = map[string]string{"team": "red"}
	other := infratest.NewCluster("ns", "one")
	other.Spec.InfrastructureRef.Kind = "OtherCluster"
	for name, test := range map[string]struct {
		objects []client.Object
		want    map[string]string
	}{
		"some":                         {[]client.Object{cluster, fooCluster}, fooCluster.Spec.AdditionalTags},
		"of a FooCluster that is gone": {[]client.Object{cluster}, nil},
		"of other infrastructure":      {[]client.Object{other, fooCluster}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			initial := newState()
			initial.machine.UID = "m1"
			initial.fooMachine.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(initial.machine, clusterv1.GroupVersion.WithKind("Machine"))}
			r := &reconciler{client: clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(append(test.objects, initial.machine)...).Build()}
			s, err := r.owners(t.Context(), initial.fooMachine)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.clusterTags).To(Equal(test.want))
		})
	}
}

// Whoever restores a backup into another namespace copies the provider IDs.
func TestACopyOfAFooMachineLeavesTheInstanceAlone(t *testing.T) {
	g := NewWithT(t)
	foocloud := fake.New(fake.Options{})
	instance, err := foocloud.EnsureInstance(t.Context(), cloud.InstanceSpec{
		Name: "prod.m1", Hostname: "m1", InstanceTemplate: cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	newCopy := func(changes ...func(*state)) *state {
		s := newState(changes...)
		s.fooMachine.Spec.ProviderID = instance.ProviderID
		controllerutil.AddFinalizer(s.fooMachine, infrav1.FooMachineFinalizer)
		observe(t.Context(), foocloud, s)
		setStatus(s, (&reconciler{}).apply(t.Context(), foocloud, s, decide(s)))
		return s
	}

	living := newCopy(controlPlane, machineDeleting)
	ready := conditions.Get(living.fooMachine, infrav1.FooMachineReadyCondition)
	g.Expect(ready.Reason).To(Equal(infrav1.CloudInvalidReason))
	g.Expect(ready.Message).To(Equal(`spec.providerID "` + instance.ProviderID + `": the instance prod.m1 belongs to another FooMachine`))
	g.Expect(living.fooMachine.Status.Initialization.Provisioned).To(BeNil())
	g.Expect(living.fooMachine.Finalizers).To(ConsistOf(infrav1.FooMachineFinalizer))
	g.Expect(newCopy(deleting).fooMachine.Finalizers).To(BeEmpty())

	now, err := foocloud.GetInstance(t.Context(), instance.ID)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now).To(Equal(instance), "neither drained nor deleted")
}
