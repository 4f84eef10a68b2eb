// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestContains(t *testing.T) {
	type object = map[string]any
	type list = []any
	for name, test := range map[string]struct {
		current, wanted any
		want            bool
	}{
		"equal":                   {object{"a": "1"}, object{"a": "1"}, true},
		"more than wanted":        {object{"a": "1", "b": "2"}, object{"a": "1"}, true},
		"a different value":       {object{"a": "2"}, object{"a": "1"}, false},
		"missing":                 {object{}, object{"a": "1"}, false},
		"missing, nested":         {object{}, object{"a": object{"b": "1"}}, false},
		"an empty map is wanted":  {object{"labels": object{"a": "1"}}, object{"labels": object{"a": "1"}, "annotations": object{}}, true},
		"items in another order":  {list{"1", "2"}, list{"2", "1"}, true},
		"an item is missing":      {list{"1"}, list{"2", "1"}, false},
		"an empty list is wanted": {nil, list{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(contains(test.current, test.wanted)).To(Equal(test.want))
		})
	}
}
