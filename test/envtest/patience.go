// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package envtestenv

import (
	"reflect"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Patience is how long a test waits for something that must happen. Only a failing test waits this
// long, so there is room for a machine with many times less CPU time than usual.
const Patience = 2 * time.Minute

// restingLooks is how many consecutive samples must be equal. It is a count and not a duration,
// because much time may pass while nothing in this process can run.
const restingLooks = 20

// EventuallyRests waits until the result of look stays the same for a while, and returns it. It
// fails if the result keeps changing. The description is a Gomega description.
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
