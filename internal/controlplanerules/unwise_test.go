// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

func certificateDays(days int32) func(*spec) {
	return config(func(c *bootstrapv1.KubeadmConfigSpec) { c.ClusterConfiguration.CertificateValidityPeriodDays = days })
}

func TestUnwise(t *testing.T) {
	const noSpare = `spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: "0": a control plane of 3 cannot tolerate the loss of a Machine while another one is being replaced`
	for name, test := range map[string]struct {
		change func(*spec)
		want   []string
	}{
		"nothing to say":              {func(*spec) {}, nil},
		"seven replicas":              {replicas(7), nil},
		"nine replicas":               {replicas(9), []string{"spec.replicas: Invalid value: 9: etcd gets slower with each member; more than 7 bring no benefit"}},
		"two replicas":                {all(replicas(2), config(externalEtcd)), []string{"spec.replicas: Invalid value: 2: if one Machine is lost, the other one serves alone until it is replaced; use 3"}},
		"three, etcd elsewhere":       {all(replicas(3), config(externalEtcd)), nil},
		"a pre-release":               {func(s *spec) { s.Version = "v1.37.0-rc.1" }, []string{`spec.version: Invalid value: "v1.37.0-rc.1": Kubernetes does not support upgrades from a pre-release`}},
		"a build is none":             {func(s *spec) { s.Version = "v1.37.0+build" }, nil},
		"no version":                  {func(s *spec) { s.Version = "newest" }, nil},
		"no spare Machine":            {surge(0), []string{noSpare}},
		"a spare Machine":             {surge(1), nil},
		"one of five":                 {all(replicas(5), surge(0)), nil},
		"etcd elsewhere":              {all(surge(0), config(externalEtcd)), nil},
		"certificates that end":       {certificateDays(100), []string{"spec.rollout.before.certificatesExpiryDays: Invalid value: 0: certificates are valid for 100 days, and nothing replaces the Machines before they expire"}},
		"certificates that are new":   {all(certificateDays(100), expiry(30)), nil},
		"certificates that live long": {certificateDays(730), nil},
		"a password": {config(func(c *bootstrapv1.KubeadmConfigSpec) {
			c.Users = []bootstrapv1.User{{Name: "a"}, {Name: "b", Passwd: "secret"}}
		}), []string{"spec.kubeadmConfigSpec.users[1].passwd: Invalid value: anyone who may read the object can read it; use passwdFrom"}},
		"a key": {config(func(c *bootstrapv1.KubeadmConfigSpec) {
			c.Files = []bootstrapv1.File{{Path: "/a", Content: "-----BEGIN EC PRIVATE KEY-----\nsecret"}, {Path: "/b", Content: "-----BEGIN CERTIFICATE-----"}}
		}), []string{"spec.kubeadmConfigSpec.files[0].content: Invalid value: contains a private key that anyone who may read the object can read; use contentFrom"}},
		"a provider of authentication": {config(func(c *bootstrapv1.KubeadmConfigSpec) {
			c.JoinConfiguration.Discovery.File.KubeConfig.User.AuthProvider.Name = "oidc"
		}), []string{`spec.kubeadmConfigSpec.joinConfiguration.discovery.file.kubeConfig.user.authProvider.name: Invalid value: "oidc": Kubernetes has not supported auth providers since 1.26; use exec`}},
	} {
		t.Run(name, func(t *testing.T) {
			controlPlane := valid()
			test.change(&controlPlane.Spec)
			g := NewWithT(t)
			g.Expect(messages(Unwise(controlPlane))).To(ConsistOf(test.want))
		})
	}
}

// A template does not know the replicas.
func TestUnwiseTemplate(t *testing.T) {
	template := &controlplanev1.FooControlPlaneTemplate{}
	g := NewWithT(t)
	g.Expect(UnwiseTemplate(template)).To(BeEmpty())
	control := valid()
	surge(0)(&control.Spec)
	template.Spec.Template.Spec.Rollout = control.Spec.Rollout
	g.Expect(UnwiseTemplate(template)).To(ConsistOf(HaveField("Field", "spec.template.spec.rollout.strategy.rollingUpdate.maxSurge")))
	template.Spec.Template.Spec.KubeadmConfigSpec.Files = []bootstrapv1.File{{Content: "-----BEGIN PRIVATE KEY-----", Append: ptr.To(true)}}
	g.Expect(UnwiseTemplate(template)).To(HaveLen(2))
}
