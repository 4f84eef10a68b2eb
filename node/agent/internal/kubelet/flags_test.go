// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"slices"
	"testing"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

var inst = &contract.Instance{Hostname: "node-1", ProviderID: "foo:///a/i1"}

func TestFlags(t *testing.T) {
	base := []string{
		"--bootstrap-kubeconfig=" + BootstrapKubeconfig,
		"--kubeconfig=" + Kubeconfig,
		"--config=" + ConfigFile,
		"--config-dir=/etc/kubernetes/kubelet.conf.d",
	}
	cases := map[string]struct {
		kubeadm, defaults string
		want              []string
	}{
		"nothing given": {"", "", []string{"--provider-id=foo:///a/i1", "--hostname-override=node-1"}},
		"kubeadm's": {
			`KUBELET_KUBEADM_ARGS="--hostname-override=other --node-labels=a=b"`, "",
			[]string{"--provider-id=foo:///a/i1", "--hostname-override=other", "--node-labels=a=b"},
		},
		"user's": {
			`KUBELET_KUBEADM_ARGS="--v=2"`, "# mine\nKUBELET_EXTRA_ARGS=--provider-id=x --node-labels='a=b c'\n",
			[]string{"--hostname-override=node-1", "--v=2", "--provider-id=x", "--node-labels=a=b c"},
		},
	}
	for name, c := range cases {
		want := slices.Concat(base, c.want)
		if got := flags(inst, c.kubeadm, c.defaults); !slices.Equal(got, want) {
			t.Errorf("%s: flags are\n%q, want\n%q", name, got, want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	cases := map[string][]string{
		"":                nil,
		"  a  b\tc ":      {"a", "b", "c"},
		`a='b c' "d  e"f`: {"a=b c", "d  ef"},
		`''`:              {""},
	}
	for text, want := range cases {
		if got := splitWords(text); !slices.Equal(got, want) {
			t.Errorf("splitWords(%q) = %q, want %q", text, got, want)
		}
	}
}
