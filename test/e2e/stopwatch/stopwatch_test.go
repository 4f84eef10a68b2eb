// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package stopwatch

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestHeldUp(t *testing.T) {
	began := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	// looks returns one sample every 100 ms for a second, of a machine with a processor for each
	// thread.
	looks := func(change func(number int, one *look)) []look {
		var list []look
		for number := range 11 {
			one := look{at: began.Add(time.Duration(number) * 100 * time.Millisecond), total: float64(number), wanted: 1}
			change(number, &one)
			list = append(list, one)
		}
		return list
	}
	for name, test := range map[string]struct {
		looks []look
		want  float64
	}{
		"an idle machine":            {looks(func(int, *look) {}), 0},
		"half of the time is stolen": {looks(func(number int, one *look) { one.stolen = float64(number) / 2 }), 0.5},
		"four threads want one":      {looks(func(_ int, one *look) { one.wanted = 4 }), 0.75},
		"both":                       {looks(func(number int, one *look) { one.stolen, one.wanted = float64(number)/2, 4 }), 0.875},
		"no sample":                  {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(withheld(test.looks, 1)).To(BeNumerically("~", test.want, 0.001))
		})
	}

	g := NewWithT(t)
	watch := &Stopwatch{looks: looks(func(int, *look) {})}
	g.Expect(watch.HeldUp(began, began.Add(time.Second))).To(Equal(100*time.Millisecond), "the longest time between two samples")
	g.Expect(watch.HeldUp(began, began.Add(3*time.Second))).To(Equal(2*time.Second), "the time after the last sample")
	watch.looks = looks(func(_ int, one *look) { one.wanted = 1e6 })
	g.Expect(watch.HeldUp(began, began.Add(time.Second))).To(BeNumerically(">", 990*time.Millisecond))
}
