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
