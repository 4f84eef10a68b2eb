/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
		"the same":                  {object{"a": "1"}, object{"a": "1"}, true},
		"more":                      {object{"a": "1", "b": "2"}, object{"a": "1"}, true},
		"another value":             {object{"a": "2"}, object{"a": "1"}, false},
		"missing":                   {object{}, object{"a": "1"}, false},
		"missing, further down":     {object{}, object{"a": object{"b": "1"}}, false},
		"no annotations are wanted": {object{"labels": object{"a": "1"}}, object{"labels": object{"a": "1"}, "annotations": object{}}, true},
		"items in another order":    {list{"1", "2"}, list{"2", "1"}, true},
		"an item is missing":        {list{"1"}, list{"2", "1"}, false},
		"no items are wanted":       {nil, list{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(contains(test.current, test.wanted)).To(Equal(test.want))
		})
	}
}
