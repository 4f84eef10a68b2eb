// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
