// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
)

func TestAnInterruptedListIsAskedForAgain(t *testing.T) {
	g := NewWithT(t)
	answers := []error{netlink.ErrDumpInterrupted, netlink.ErrDumpInterrupted, nil}
	found, err := whole(func() ([]int, error) {
		answer := answers[0]
		answers = answers[1:]
		return []int{len(answers)}, answer
	})
	g.Expect(found, err).To(Equal([]int{0}))

	_, err = whole(func() ([]int, error) { return nil, netlink.ErrDumpInterrupted })
	g.Expect(err).To(MatchError(netlink.ErrDumpInterrupted), "it does not ask forever")
	broken, calls := errors.New("broken"), 0
	_, err = whole(func() ([]int, error) { calls++; return nil, broken })
	g.Expect(err).To(MatchError(broken))
	g.Expect(calls).To(Equal(1))
}
