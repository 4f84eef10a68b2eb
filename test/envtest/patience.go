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

package envtestenv

import (
	"reflect"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Patience is how long a test waits for what must happen. Only a test that fails waits so long, so there is room for a machine
// that has many times less CPU time than it should.
const Patience = 2 * time.Minute

// restingLooks is how often what rests must look the same. Looks are counted and not time, of which much may pass while nothing
// in this process could run.
const restingLooks = 20

// EventuallyRests waits until what look returns stays the same for a while, and returns that. It fails if that changes again and
// again. The description is one of Gomega.
func EventuallyRests[T any](look func() T, quiet time.Duration, description ...any) T {
	ginkgo.GinkgoHelper()
	last, same := look(), 0
	gomega.Eventually(func() int {
		if now := look(); reflect.DeepEqual(now, last) {
			same++
		} else {
			last, same = now, 0
		}
		return same
	}).WithTimeout(Patience+2*quiet).WithPolling(quiet/restingLooks).Should(gomega.BeNumerically(">=", restingLooks), description...)
	return last
}
