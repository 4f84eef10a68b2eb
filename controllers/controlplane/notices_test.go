// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

func TestAKubeconfigThatCannotBeRenewedIsReportedWhileItWorks(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	certificates := func() *metav1.Condition {
		_, err := m.reconcile()
		m.Expect(err).NotTo(HaveOccurred())
		return conditions.Get(m.get(), controlplanev1.CertificatesAvailableCondition)
	}
	authority := &corev1.Secret{}
	m.Expect(m.client.Get(m.ctx, client.ObjectKey{Namespace: "default", Name: "c1-ca"}, authority)).To(Succeed())
	delete(authority.Data, secret.TLSKeyDataName)
	m.Expect(m.client.Update(m.ctx, authority)).To(Succeed())
	m.clock.SetTime(time.Now())
	m.Expect(certificates()).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", BeEmpty())))

	m.clock.SetTime(time.Now().AddDate(0, 9, 0))
	shown := certificates()
	m.Expect(shown).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", MatchRegexp(
		`^Secret c1-kubeconfig: its client certificate expires at [0-9-]+T[0-9:]+Z, and Secret c1-ca has no key to renew it with$`))))
	m.clock.Step(time.Hour)
	m.Expect(certificates()).To(Equal(shown), "the text does not change")

	m.clock.SetTime(time.Now().AddDate(9, 11, 0))
	m.Expect(certificates().Message).To(And(ContainSubstring("Secret c1-etcd: its certificate expires at"), ContainSubstring("; Secret c1-kubeconfig: ")))
}
