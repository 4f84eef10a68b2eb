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

package network

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestLimitsAreOnlyRaised(t *testing.T) {
	limit := atLeast(8192)
	for have, fits := range map[string]bool{"128": false, "8191": false, "8192": true, "65536": true, "": false, "many": false} {
		t.Run(have, func(t *testing.T) {
			NewWithT(t).Expect(limit.fits(have)).To(Equal(fits))
		})
	}
}
