// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/blang/semver/v4"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
)

// rendered returns the content of a pool's Secret as the kubeadm bootstrap provider's code writes
// it.
func rendered(t *testing.T, token string, change func(join *bootstrapv1.JoinConfiguration)) []byte {
	t.Helper()
	g := NewWithT(t)
	join := &bootstrapv1.JoinConfiguration{Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{
		Token: token, APIServerEndpoint: "192.0.2.1:6443", CACertHashes: []string{"sha256:0011"},
	}}}
	if change != nil {
		change(join)
	}
	version := semver.MustParse("1.36.3")
	data, err := kubeadmtypes.MarshalJoinConfigurationForVersion(join, version)
	g.Expect(err).NotTo(HaveOccurred())
	data2, err := cloudinit.NewNode(&cloudinit.NodeInput{
		BaseUserData: cloudinit.BaseUserData{KubernetesVersion: version}, JoinConfiguration: data,
	})
	g.Expect(err).NotTo(HaveOccurred())
	return data2
}

func TestDigestIgnoresTheTokenAndNothingElse(t *testing.T) {
	g := NewWithT(t)
	before := rendered(t, "abcdef.0123456789abcdef", nil)
	for _, token := range []string{
		"fedcba.fedcba9876543210", "123456.1234567890123456", "1e2345.6789012345678901", "000000.0000000000000000",
	} {
		g.Expect(string(rendered(t, token, nil))).NotTo(Equal(string(before)))
		g.Expect(digestOf(rendered(t, token, nil))).To(Equal(digestOf(before)), "token %s", token)
	}
	other := rendered(t, "abcdef.0123456789abcdef", func(join *bootstrapv1.JoinConfiguration) {
		join.NodeRegistration.Name = "another"
	})
	g.Expect(digestOf(other)).NotTo(Equal(digestOf(before)))
	g.Expect(digestOf([]byte("a"))).NotTo(Equal(digestOf([]byte("b"))))
}
