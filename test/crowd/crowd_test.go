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

package crowd_test

import (
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/test/crowd"
)

func TestSlowest99(t *testing.T) {
	g := NewWithT(t)
	var together, most atomic.Int32
	arrived := make(chan struct{})
	var calls atomic.Int32
	took := crowd.Slowest99(func(int) {
		most.Store(max(most.Load(), together.Add(1)))
		defer together.Add(-1)
		if calls.Add(1) == crowd.AtOnce {
			close(arrived)
		}
		<-arrived // the first calls are all under way at the same time
	})
	g.Expect(calls.Load()).To(BeEquivalentTo(10 * crowd.AtOnce))
	g.Expect(most.Load()).To(BeEquivalentTo(crowd.AtOnce))
	g.Expect(took).To(BeNumerically(">", 0))
}

func TestBest(t *testing.T) {
	g := NewWithT(t)
	measured := func(durations ...time.Duration) (best time.Duration, tries int) {
		return crowd.Best(func(try int) time.Duration { tries++; return durations[try] }), tries
	}
	best, tries := measured(time.Millisecond)
	g.Expect(best).To(Equal(time.Millisecond))
	g.Expect(tries).To(Equal(1))
	best, tries = measured(time.Second, time.Minute, time.Millisecond)
	g.Expect(best).To(Equal(time.Millisecond))
	g.Expect(tries).To(Equal(3))
	best, tries = measured(time.Hour, time.Minute, time.Second, time.Minute, time.Hour)
	g.Expect(best).To(Equal(time.Second))
	g.Expect(tries).To(Equal(5))
}
