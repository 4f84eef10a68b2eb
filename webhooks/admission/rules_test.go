// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// small refuses every instance type except small, and a change of the provider ID.
var small = Rules[*infrav1.FooMachine]{
	Kind: schema.GroupKind{Group: "g", Kind: "FooMachine"}, Resource: "foomachines",
	Validate: func(machine *infrav1.FooMachine) field.ErrorList {
		if machine.Spec.InstanceType == "small" {
			return nil
		}
		return field.ErrorList{field.Invalid(field.NewPath("spec", "list").Index(1).Child("type"), machine.Spec.InstanceType, "must be small")}
	},
	Change: func(_ context.Context, before, after *infrav1.FooMachine) field.ErrorList {
		return SetOnce(field.NewPath("spec", "providerID"), before.Spec.ProviderID, after.Spec.ProviderID)
	},
	Unwise: func(machine *infrav1.FooMachine) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "instanceType"), machine.Spec.InstanceType, "because")}
	},
}

func machine(instanceType, providerID string) *infrav1.FooMachine {
	result := &infrav1.FooMachine{Spec: infrav1.FooMachineSpec{InstanceType: instanceType, ProviderID: providerID}}
	result.Name = "m"
	return result
}

func TestRefusalSaysWhereToRead(t *testing.T) {
	g := NewWithT(t)
	warnings, err := small.ValidateCreate(t.Context(), machine("large", ""))
	g.Expect(err).To(MatchError(`FooMachine.g "m" is invalid: spec.list[1].type: Invalid value: "large": must be small (see kubectl explain foomachines.spec.list.type)`))
	g.Expect(warnings).To(ConsistOf("spec.instanceType is large: because (see kubectl explain foomachines.spec.instanceType)"))
	_, err = small.ValidateCreate(t.Context(), machine("small", ""))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = small.ValidateDelete(t.Context(), machine("large", ""))
	g.Expect(err).NotTo(HaveOccurred())
}

func TestRatchet(t *testing.T) {
	for name, test := range map[string]struct {
		before, after *infrav1.FooMachine
		want          string
	}{
		"nothing wrong":              {machine("small", ""), machine("small", "a"), ""},
		"it becomes wrong":           {machine("small", ""), machine("large", ""), "must be small"},
		"it was wrong before":        {machine("large", ""), machine("large", "a"), ""},
		"it becomes wrong otherwise": {machine("large", ""), machine("larger", ""), "must be small"},
		"it becomes right":           {machine("large", ""), machine("small", ""), ""},
		"a change that is not":       {machine("large", "a"), machine("large", "b"), "was set to a and must not change to b"},
		"a removal":                  {machine("large", "a"), machine("large", ""), "was set to a and must not be removed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := small.ValidateUpdate(t.Context(), test.before, test.after)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

// large refuses large items of a list, wherever they are in it.
var large = Rules[*infrav1.FooMachinePool]{
	Kind: schema.GroupKind{Group: "g", Kind: "FooMachinePool"}, Resource: "foomachinepools",
	Validate: func(pool *infrav1.FooMachinePool) field.ErrorList {
		var problems field.ErrorList
		for i, id := range pool.Spec.ProviderIDList {
			if strings.HasPrefix(id, "large") {
				problems = append(problems, field.Invalid(field.NewPath("spec", "providerIDList").Index(i), id, "must be small"))
			}
		}
		return problems
	},
}

func TestRatchetInLists(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []string
		want          string
	}{
		"another item before it":    {[]string{"large"}, []string{"small", "large"}, ""},
		"an item before it removed": {[]string{"small", "large"}, []string{"large"}, ""},
		"another order":             {[]string{"large", "larger"}, []string{"larger", "large"}, ""},
		"the same once more":        {[]string{"large"}, []string{"large", "large"}, "spec.providerIDList[1]"},
		"another wrong one":         {[]string{"large"}, []string{"larger"}, "spec.providerIDList[0]"},
		"one more, in front":        {[]string{"large"}, []string{"larger", "large"}, "spec.providerIDList[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pool := func(ids []string) *infrav1.FooMachinePool {
				return &infrav1.FooMachinePool{Spec: infrav1.FooMachinePoolSpec{ProviderIDList: ids}}
			}
			_, err := large.ValidateUpdate(t.Context(), pool(test.before), pool(test.after))
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.want + ": Invalid value")))
		})
	}
}

func TestObjectsAreValidatedOnce(t *testing.T) {
	g := NewWithT(t)
	var validated []string
	rules := Rules[*infrav1.FooMachine]{Validate: func(machine *infrav1.FooMachine) field.ErrorList {
		validated = append(validated, machine.Spec.InstanceType)
		return small.Validate(machine)
	}}
	g.Expect(rules.ValidateUpdate(t.Context(), machine("large", ""), machine("small", ""))).To(BeEmpty())
	g.Expect(validated).To(Equal([]string{"small"}), "the old object matters only if something is wrong with the new one")
	_, err := rules.ValidateUpdate(t.Context(), machine("large", ""), machine("large", "a"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(validated).To(Equal([]string{"small", "large", "large"}))
}

func TestWarningsAreGivenOnce(t *testing.T) {
	g := NewWithT(t)
	g.Expect(small.ValidateUpdate(t.Context(), machine("small", ""), machine("small", "a"))).To(BeEmpty())
	g.Expect(small.ValidateUpdate(t.Context(), machine("large", ""), machine("small", ""))).To(ConsistOf(HavePrefix("spec.instanceType is small: because")))
}

// What counts as a change is tested with Changed.
func TestChangeOnly(t *testing.T) {
	before, after := machine("small", "a"), machine("large", "b")
	var got []string
	for _, problem := range ChangeOnly(field.NewPath("spec"), &before.Spec, &after.Spec, "providerID") {
		got = append(got, problem.Error())
	}
	NewWithT(t).Expect(got).To(ConsistOf("spec.instanceType: Forbidden: is immutable, so it must not change from \"small\" to \"large\"; these fields may change: providerID"))
}

func TestImmutable(t *testing.T) {
	rule := Immutable(func(machine *infrav1.FooMachine) any { return &machine.Spec })
	asked := machine("large", "")
	asked.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	for name, test := range map[string]struct {
		dryRun  *bool
		after   *infrav1.FooMachine
		allowed bool
	}{
		"the topology controller asks": {ptr.To(true), asked, true},
		"and does":                     {ptr.To(false), asked, false},
		"and does, without a word":     {nil, asked, false},
		"somebody else asks":           {ptr.To(true), machine("large", ""), false},
		"nothing changes":              {nil, machine("small", ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: test.dryRun}})
			problems := rule(ctx, machine("small", ""), test.after).ToAggregate()
			if test.allowed {
				NewWithT(t).Expect(problems).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(problems).To(MatchError(ContainSubstring("create another template")))
		})
	}
}
