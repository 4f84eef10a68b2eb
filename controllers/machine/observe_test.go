// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

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
