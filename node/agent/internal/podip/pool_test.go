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

package podip

import (
	"net/netip"
	"slices"
	"testing"
)

func allocate(t *testing.T, pool *Pool) []string {
	t.Helper()
	addresses, err := pool.Allocate()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, address := range addresses {
		out = append(out, address.String())
	}
	return out
}

func TestAllocateGivesOneAddressOfEachRange(t *testing.T) {
	pool := NewPool(netip.MustParsePrefix("10.244.3.0/24"), netip.MustParsePrefix("fd00:3::/64"))
	if got := allocate(t, pool); !slices.Equal(got, []string{"10.244.3.2", "fd00:3::2"}) {
		t.Errorf("first pod has %q", got)
	}
	if got := allocate(t, pool); !slices.Equal(got, []string{"10.244.3.3", "fd00:3::3"}) {
		t.Errorf("second pod has %q", got)
	}
}

func TestAllocateUsesTheWholeRangeBeforeItRepeats(t *testing.T) {
	pool := NewPool(netip.MustParsePrefix("10.0.0.0/29")) // .2 to .6
	first, err := pool.Allocate()
	if err != nil {
		t.Fatal(err)
	}
	pool.Release(first)
	for _, want := range []string{"10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.2"} {
		if got := allocate(t, pool); got[0] != want {
			t.Fatalf("got %s, want %s", got[0], want)
		}
	}
	if _, err := pool.Allocate(); err == nil {
		t.Error("an address beyond the last was given")
	}
}

func TestAllocateOfOneFullRangeKeepsNothingOfTheOther(t *testing.T) {
	pool := NewPool(netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("10.1.0.0/30")) // the second has .2 only
	allocate(t, pool)
	if _, err := pool.Allocate(); err == nil {
		t.Fatal("no error")
	}
	if len(pool.used) != 2 {
		t.Errorf("%d addresses are in use, want 2", len(pool.used))
	}
}

func TestSetRanges(t *testing.T) {
	old, fresh := netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("10.9.0.0/24")
	pool := NewPool(old)
	allocate(t, pool)
	if pool.SetRanges([]netip.Prefix{old}) {
		t.Error("the same range counts as another")
	}
	if !pool.SetRanges([]netip.Prefix{fresh}) {
		t.Error("another range counts as the same")
	}
	if got := allocate(t, pool); got[0] != "10.9.0.2" {
		t.Errorf("got %q", got)
	}
}

func TestFallback(t *testing.T) {
	cases := map[string]string{
		"10.77.0.2":   "198.18.2.0/24",
		"10.77.0.3":   "198.18.3.0/24",
		"10.77.1.2":   "198.19.2.0/24",
		"10.77.2.2":   "198.18.2.0/24",
		"fd00::1:103": "198.19.3.0/24",
	}
	for address, want := range cases {
		if got := Fallback(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("Fallback(%s) = %s, want %s", address, got, want)
		}
	}
}
