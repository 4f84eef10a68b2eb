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

package cloud

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestInstanceID(t *testing.T) {
	for providerID, want := range map[string]string{
		ProviderID("zone-a", "i1"):   "i1",
		"":                           "",
		"foo:///zone-a":              "",
		"foo:///zone-a/":             "",
		"foo:////i1":                 "",
		"foo:///zone-a/i1/x":         "",
		"aws:///zone-a/i1":           "",
		PoolProviderID("ns.workers"): "",
	} {
		t.Run(providerID, func(t *testing.T) {
			g := NewWithT(t)
			id, err := InstanceID(providerID)
			g.Expect(id).To(Equal(want))
			g.Expect(IsInvalid(err)).To(Equal(want == ""))
		})
	}
}
