// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// authorities are the purposes of the certificate Secrets.
var authorities = []secret.Purpose{secret.ClusterCA, secret.EtcdCA, secret.ServiceAccount, secret.FrontProxyCA}

func (m *management) secret(purpose secret.Purpose) *corev1.Secret {
	found := &corev1.Secret{}
	m.Expect(m.client.Get(m.ctx, client.ObjectKey{Namespace: "default", Name: secret.Name("c1", purpose)}, found)).To(Succeed())
	return found
}

// A FooControlPlane that owned the certificates before the Machines would take the keys of a running
// cluster along when it is deleted, and so would a Machine.
func TestSecretsStayWithMachinesThatCannotBeAdopted(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	machine := m.machines()[0]
	config := &bootstrapv1.KubeadmConfig{}
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(&machine), config)).To(Succeed())
	alter(m, &machine, func(machine *clusterv1.Machine) { machine.OwnerReferences = nil })
	for _, purpose := range authorities {
		given := m.secret(purpose)
		given.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(config, configKind)}
		m.Expect(m.client.Update(m.ctx, given)).To(Succeed())
	}
	through, _ := m.reconciler.client.(client.WithWatch)
	m.reconciler.client = interceptor.NewClient(through, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if _, ok := object.(*clusterv1.Machine); ok {
				return errors.New("denied by a policy")
			}
			return c.Patch(ctx, object, patch, options...)
		},
	})
	_, err := m.reconcileOnce()
	m.Expect(err).To(MatchError(ContainSubstring("denied by a policy")))
	for _, purpose := range authorities {
		m.Expect(m.secret(purpose).OwnerReferences).To(Equal([]metav1.OwnerReference{clusterReference(m.cluster)}), string(purpose))
	}

	m.reconciler.client = through
	m.last(time.Minute)
	m.Expect(metav1.IsControlledBy(&m.machines()[0], m.controlPlane)).To(BeTrue())
	for _, purpose := range authorities {
		m.Expect(m.secret(purpose).OwnerReferences).To(ConsistOf(HaveField("UID", m.controlPlane.UID), clusterReference(m.cluster)), string(purpose))
	}
}

func TestSecretsStayWithMachinesOfAnotherOwner(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	machine := m.machines()[0]
	owner := metav1.OwnerReference{APIVersion: controlplanev1.GroupVersion.String(), Kind: "KubeadmControlPlane", Name: "kcp", UID: "kcp", Controller: ptr.To(true)}
	alter(m, &machine, func(machine *clusterv1.Machine) { machine.OwnerReferences = []metav1.OwnerReference{owner} })
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "bootstrap", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}, OwnerReferences: []metav1.OwnerReference{owner},
	}}
	m.Expect(m.client.Create(m.ctx, theirs)).To(Succeed())
	_, err := m.reconcileOnce()
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(m.secret(secret.ClusterCA).OwnerReferences).To(Equal([]metav1.OwnerReference{clusterReference(m.cluster)}))
	m.Expect(m.client.Delete(m.ctx, m.get())).To(Succeed())
	_, err = m.reconcileOnce()
	m.Expect(err).NotTo(HaveOccurred())

	err = m.client.Get(m.ctx, client.ObjectKeyFromObject(m.controlPlane), &controlplanev1.FooControlPlane{})
	m.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	for _, purpose := range append(authorities, secret.Kubeconfig) {
		m.Expect(m.secret(purpose).OwnerReferences).To(Equal([]metav1.OwnerReference{clusterReference(m.cluster)}), string(purpose))
	}
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(theirs), theirs)).To(Succeed())
	m.Expect(theirs.OwnerReferences).To(ConsistOf(owner))
}
