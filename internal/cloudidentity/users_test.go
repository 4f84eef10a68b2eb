// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// A FooCluster that no Cluster owns yet says nothing about other objects that no Cluster owns.
func TestWhatBelongsToNoClusterUsesNoIdentity(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(g, fooCluster("red"))
	template := &infrav1.FooMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "red", Name: "workers"}}
	for identity, want := range map[string]bool{"": true, "red": false} {
		contains, err := Scope(w.client, identity)(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(contains(template)).To(Equal(want), "identity %q", identity)
		g.Expect(contains(fooCluster("red"))).To(Equal(!want), "identity %q", identity)
	}
}
