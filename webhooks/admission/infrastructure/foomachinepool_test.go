// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

func TestThePoolKeepsItsID(t *testing.T) {
	g := NewWithT(t)
	path := field.NewPath("spec", "providerID")
	g.Expect(changePoolID("", "foo:///a", path)).To(BeEmpty())
	g.Expect(changePoolID("foo:///a", "foo:///a", path)).To(BeEmpty())
	g.Expect(changePoolID("foo:///a", "foo:///b", path)).To(HaveLen(1))
	g.Expect(changePoolID("foo:///a", "", path)).To(HaveLen(1))
}

func TestUnwisePools(t *testing.T) {
	for name, test := range map[string]struct {
		strategy infrav1.FooMachinePoolStrategy
		want     []string
	}{
		"nothing to say":  {infrav1.FooMachinePoolStrategy{}, nil},
		"all but one":     {infrav1.FooMachinePoolStrategy{MaxUnavailable: ptr.To(intstr.FromString("99%"))}, nil},
		"all":             {infrav1.FooMachinePoolStrategy{MaxUnavailable: ptr.To(intstr.FromString("100%"))}, []string{"spec.strategy.maxUnavailable"}},
		"hardly any time": {infrav1.FooMachinePoolStrategy{NodeJoinTimeoutSeconds: 59}, []string{"spec.strategy.nodeJoinTimeoutSeconds"}},
		"enough time":     {infrav1.FooMachinePoolStrategy{NodeJoinTimeoutSeconds: 60}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, unwise := range unwisePool(&infrav1.FooMachinePoolSpec{Strategy: test.strategy}, field.NewPath("spec")) {
				got = append(got, unwise.Field)
			}
			if !slices.Equal(got, test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
		})
	}
}
