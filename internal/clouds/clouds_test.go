// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/kubernetes"
	local "github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

func TestIdentityChoosesTheKindOfCloud(t *testing.T) {
	for name, test := range map[string]struct {
		account cloudidentity.Account
		want    any
		problem string
	}{
		"local by default": {cloudidentity.Account{Endpoint: "unix:///run/foo.sock", Token: "t"}, &local.Client{}, ""},
		"local":            {cloudidentity.Account{Cloud: infrav1.CloudLocal, Endpoint: "https://cloud:1", Tenant: "red", Token: "t"}, &local.Client{}, ""},
		"kubernetes":       {cloudidentity.Account{Cloud: infrav1.CloudKubernetes, Endpoint: "https://outer:6443", Tenant: "red", Token: "t"}, &kubernetes.Cloud{}, ""},
		"a socket of an API server": {
			cloudidentity.Account{Cloud: infrav1.CloudKubernetes, Endpoint: "unix:///run/foo.sock", Tenant: "red", Token: "t"}, nil,
			`endpoint "unix:///run/foo.sock": must be https://host:port of a Kubernetes API server`,
		},
		"certificates that are none": {
			cloudidentity.Account{Cloud: infrav1.CloudKubernetes, Endpoint: "https://outer:6443", Tenant: "red", Token: "t", CA: []byte("none")}, nil, "unable to load root certificates",
		},
		"another kind": {cloudidentity.Account{Cloud: "Moon", Endpoint: "https://cloud:1", Token: "t"}, nil, `cloud "Moon" is unknown; it must be Local or Kubernetes`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found, err := Connect(test.account)
			if test.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(BeAssignableToTypeOf(test.want))
			found.Close()
		})
	}
}

func TestFlagsChooseTheDefault(t *testing.T) {
	g := NewWithT(t)
	token := filepath.Join(t.TempDir(), "token")
	g.Expect(os.WriteFile(token, []byte("t"), 0o600)).To(Succeed())
	found, err := OfFlags(&manager.Options{Cloud: "Kubernetes", CloudEndpoint: "https://outer:6443", CloudNamespace: "machines", CloudTokenFile: token})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeAssignableToTypeOf(&kubernetes.Cloud{}))
	_, err = OfFlags(&manager.Options{Cloud: "Kubernetes", CloudEndpoint: "https://outer:6443", CloudNamespace: "a.b", CloudTokenFile: token})
	g.Expect(err).To(MatchError(ContainSubstring(`cloud: namespace "a.b"`)))
}
