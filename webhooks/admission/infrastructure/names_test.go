// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Names become host names. Existing objects with longer names can still be changed and deleted.
func TestNamesFitIntoHostNames(t *testing.T) {
	g := NewWithT(t)
	for length, want := range map[int]bool{57: true, 58: false} {
		pool := &infrav1.FooMachinePool{}
		pool.Name = strings.Repeat("p", length)
		_, err := poolRules().ValidateCreate(t.Context(), pool)
		g.Expect(err == nil).To(Equal(want), "pool of %d: %v", length, err)
		_, err = poolRules().ValidateUpdate(t.Context(), pool, pool)
		g.Expect(err).NotTo(HaveOccurred())
	}
	for length, want := range map[int]bool{63: true, 64: false} {
		machine := &infrav1.FooMachine{}
		machine.Name = strings.Repeat("m", length)
		_, err := machineRules().ValidateCreate(t.Context(), machine)
		g.Expect(err == nil).To(Equal(want), "machine of %d: %v", length, err)
		if err != nil {
			g.Expect(err).To(MatchError(ContainSubstring("metadata.name: Too long: may not be more than 63 bytes")))
		}
	}
}
