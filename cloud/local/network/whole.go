// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"

	"github.com/vishvananda/netlink"
)

// listAttempts is how often a list is asked for.
const listAttempts = 20

// whole asks the kernel for a list again if something changed while it was answering, because the
// list may lack something then.
func whole[T any](list func() ([]T, error)) (found []T, err error) {
	for range listAttempts {
		if found, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return found, err
}
