// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestInstanceID(t *testing.T) {
	for providerID, want := range map[string]string{
		ProviderID("zone-a", "i1"):   "i1",
		"":                           "",
		"foo:///zone-a":              "",
		"foo:///zone-a/":             "",
		"foo:////i1":                 "",
		"foo:///zone-a/i1/x":         "",
		"aws:///zone-a/i1":           "",
		PoolProviderID("ns.workers"): "",
	} {
		t.Run(providerID, func(t *testing.T) {
			g := NewWithT(t)
			id, err := InstanceID(providerID)
			g.Expect(id).To(Equal(want))
			g.Expect(IsInvalid(err)).To(Equal(want == ""))
		})
	}
}
