// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

func TestMerge(t *testing.T) {
	for name, test := range map[string]struct{ before, read, written, want string }{
		"nothing changed":         {"{a: 1, hidden: 2}", "{a: 1}", "{a: 1}", "{a: 1, hidden: 2}"},
		"a value":                 {"{a: 1, hidden: 2}", "{a: 1}", "{a: 3}", "{a: 3, hidden: 2}"},
		"a value removed":         {"{a: 1, hidden: 2}", "{a: 1}", "{}", "{hidden: 2}"},
		"a value added":           {"{hidden: 2}", "{}", "{a: 1}", "{a: 1, hidden: 2}"},
		"an object removed":       {"{a: {b: 1, hidden: false}}", "{a: {b: 1}}", "{}", "{}"},
		"what is read of it":      {"{a: {b: 1, hidden: 2}}", "{a: {b: 1}}", "{}", "{a: {hidden: 2}}"},
		"an object added":         {"{a: {hidden: 2}}", "{}", "{a: {b: 1}}", "{a: {b: 1, hidden: 2}}"},
		"a value read in part":    {"{a: 7, b: {c: 1}}", "{a: 1, b: {c: 1}}", "{a: 1, b: {c: 2}}", "{a: 7, b: {c: 2}}"},
		"an item of a list":       {"{a: [{b: 1, hidden: 2}, {b: 3, hidden: 4}]}", "{a: [{b: 1}, {b: 3}]}", "{a: [{b: 3}, {b: 5}]}", "{a: [{b: 3, hidden: 4}, {b: 5}]}"},
		"a list of another size":  {"{a: [{b: 1, hidden: 2}]}", "{a: [{b: 1}, {b: 3}]}", "{a: [{b: 1}]}", "{a: [{b: 1}]}"},
		"a list of values":        {"{a: [1, 2]}", "{a: [1, 2]}", "{a: [2]}", "{a: [2]}"},
		"a list that was removed": {"{a: [1, 2]}", "{a: [1, 2]}", "{}", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			value := func(text string) (result any) {
				g.Expect(yaml.Unmarshal([]byte(text), &result)).To(Succeed())
				return result
			}
			g.Expect(mergeValue(value(test.before), value(test.read), value(test.written))).To(Equal(value(test.want)))
		})
	}
}
