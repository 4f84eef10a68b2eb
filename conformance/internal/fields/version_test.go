// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func TestSameVersion(t *testing.T) {
	for _, test := range []struct {
		a, b                     string
		sameVersion, sameRelease bool
	}{
		{"v1.31.0", "v1.31.0", true, true},
		{"v1.31.0", "1.31", true, true},
		{"v1.31.4", "1.31", false, false},
		{"v1.31.4+k0s.0", "v1.31.4+k0s.0", true, true},
		{"v1.31.4+k0s.0", "v1.31.4+k0s", false, true},
		{"v1.31.4+k0s.0", "v1.31.4", false, true},
		{"v1.31.4+k3s2", "v1.31.4+k3s1", false, false},
		{"v1.31.4+k0s.1", "v1.31.4+k0s.0", false, false},
		{"v1.31.0-rc.1", "v1.31.0", false, false},
		{"", "", false, false},
		{"latest", "latest", false, false},
	} {
		g := NewWithT(t)
		g.Expect(fields.SameVersion(test.a, test.b)).To(Equal(test.sameVersion), "%s %s", test.a, test.b)
		g.Expect(fields.SameRelease(test.a, test.b)).To(Equal(test.sameRelease), "%s %s", test.a, test.b)
	}
}

func TestSameMinor(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"v1.31.0", "v1.31.4-eks-5f6e1c1", true},
		{"1.31", "v1.31.4+k0s", true},
		{"v1.31.0", "v1.32.0", false},
		{"v1.31.0", "v2.31.0", false},
		{"latest", "latest", false},
		{"", "", false},
	} {
		NewWithT(t).Expect(fields.SameMinor(test.a, test.b)).To(Equal(test.same), "%s %s", test.a, test.b)
	}
}
