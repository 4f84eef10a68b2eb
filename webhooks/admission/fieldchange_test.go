// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type inner struct {
	B int `json:"b,omitempty"`
	C int `json:"c,omitempty"`
}

type outer struct {
	A  int    `json:"a,omitempty"`
	AB int    `json:"ab,omitempty"`
	In *inner `json:"in,omitempty"`
	L  []int  `json:"l,omitempty"`
}

func TestChanged(t *testing.T) {
	for name, test := range map[string]struct {
		before, after outer
		allowed       []string
		want          []string
	}{
		"nothing changes":                       {outer{A: 1}, outer{A: 1}, nil, nil},
		"a field changes":                       {outer{A: 1}, outer{A: 2}, nil, []string{"spec.a"}},
		"an allowed field":                      {outer{A: 1}, outer{A: 2}, []string{"a"}, nil},
		"a field is added":                      {outer{}, outer{A: 2}, []string{"b"}, []string{"spec.a"}},
		"a field is removed":                    {outer{A: 1}, outer{}, nil, []string{"spec.a"}},
		"a nested field":                        {outer{In: &inner{B: 1, C: 2}}, outer{In: &inner{B: 2, C: 2}}, []string{"in.c"}, []string{"spec.in.b"}},
		"a field of an allowed object":          {outer{In: &inner{B: 1}}, outer{In: &inner{B: 2}}, []string{"in"}, nil},
		"an object is added":                    {outer{}, outer{In: &inner{B: 1, C: 1}}, []string{"in.b"}, []string{"spec.in.c"}},
		"an object with allowed fields only":    {outer{}, outer{In: &inner{B: 1}}, []string{"in.b"}, nil},
		"an empty object":                       {outer{}, outer{In: &inner{}}, nil, nil},
		"a name with an allowed name as prefix": {outer{AB: 1}, outer{AB: 2}, []string{"a"}, []string{"spec.ab"}},
		"a list":                                {outer{L: []int{1}}, outer{L: []int{1, 2}}, nil, []string{"spec.l"}},
		"several, sorted":                       {outer{}, outer{A: 1, L: []int{1}, AB: 1}, nil, []string{"spec.a", "spec.ab", "spec.l"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			changed, err := Changed(field.NewPath("spec"), &test.before, &test.after, test.allowed...)
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, change := range changed {
				got = append(got, change.Path.String())
			}
			g.Expect(got).To(Equal(test.want))
		})
	}
}

func TestProblem(t *testing.T) {
	for want, change := range map[string]Change{
		`, so it must not change from "a" to "b"`:      {Before: "a", After: "b"},
		`, so it must not be set to "b" later`:         {After: "b"},
		", so its value 1 must not be removed":         {Before: int64(1)},
		", so it must not change from false to true":   {Before: false, After: true},
		`, so it must not change from "" to "a \"\nb"`: {Before: "", After: "a \"\nb"},
	} {
		NewWithT(t).Expect(change.Problem()).To(Equal("is immutable" + want))
	}
	for _, change := range []Change{{After: []any{"a"}}, {Before: map[string]any{"a": "b"}}, {Before: "a", After: []any{}}} {
		NewWithT(t).Expect(change.Problem()).To(Equal("is immutable"))
	}
}

func TestWhatIsNoObject(t *testing.T) {
	_, err := Changed(field.NewPath("spec"), 1, 2)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("reading the old value of spec")))
}
