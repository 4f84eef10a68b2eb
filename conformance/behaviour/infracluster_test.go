// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestFailureDomains(t *testing.T) {
	for name, test := range map[string]struct {
		domains any
		want    string
	}{
		"for workers only":  {[]any{map[string]any{"name": "a"}, map[string]any{"name": "b", "controlPlane": false}}, ""},
		"none":              {[]any{}, "want a list of at least one failure domain"},
		"a map":             {map[string]any{"a": map[string]any{}}, "want a list"},
		"without a name":    {[]any{map[string]any{"controlPlane": true}}, "names must be set and unique"},
		"two with one name": {[]any{map[string]any{"name": "a"}, map[string]any{"name": "a"}}, "names must be set and unique"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"failureDomains": test.domains}}}
			err := checkFailureDomains(object, "v1beta2")
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}
