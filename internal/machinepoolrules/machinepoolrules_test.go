// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepoolrules

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

func TestValidate(t *testing.T) {
	number := func(n int32) *intstr.IntOrString { return ptr.To(intstr.FromInt32(n)) }
	percent := func(p string) *intstr.IntOrString { return ptr.To(intstr.FromString(p)) }
	for name, test := range map[string]struct {
		strategy infrav1.FooMachinePoolStrategy
		wrong    string
	}{
		"nothing said":           {strategy: infrav1.FooMachinePoolStrategy{}},
		"numbers":                {strategy: infrav1.FooMachinePoolStrategy{MaxSurge: number(0), MaxUnavailable: number(1)}},
		"percentages":            {strategy: infrav1.FooMachinePoolStrategy{MaxSurge: percent("100%"), MaxUnavailable: percent("0%")}},
		"both zero":              {infrav1.FooMachinePoolStrategy{MaxSurge: number(0), MaxUnavailable: percent("0%")}, "spec.strategy.maxSurge"},
		"zero with the default":  {infrav1.FooMachinePoolStrategy{MaxSurge: percent("0%")}, "spec.strategy.maxSurge"},
		"below zero":             {infrav1.FooMachinePoolStrategy{MaxSurge: number(-1)}, "spec.strategy.maxSurge"},
		"more than all":          {infrav1.FooMachinePoolStrategy{MaxUnavailable: percent("101%")}, "spec.strategy.maxUnavailable"},
		"no percentage":          {infrav1.FooMachinePoolStrategy{MaxUnavailable: percent("some")}, "spec.strategy.maxUnavailable"},
		"an unknown policy":      {infrav1.FooMachinePoolStrategy{DeletePolicy: "Tallest"}, "spec.strategy.deletePolicy"},
		"a timeout below zero":   {infrav1.FooMachinePoolStrategy{NodeJoinTimeoutSeconds: -1}, "spec.strategy.nodeJoinTimeoutSeconds"},
		"a limit below zero":     {infrav1.FooMachinePoolStrategy{MaxFailedReplacements: -1}, "spec.strategy.maxFailedReplacements"},
		"one unavailable, alone": {strategy: infrav1.FooMachinePoolStrategy{MaxUnavailable: number(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			errs := Validate(&infrav1.FooMachinePoolSpec{Strategy: test.strategy}, field.NewPath("spec"))
			if test.wrong == "" {
				g.Expect(errs).To(BeEmpty())
				return
			}
			g.Expect(errs).To(HaveLen(1))
			g.Expect(errs[0].Field).To(Equal(test.wrong))
		})
	}
}
