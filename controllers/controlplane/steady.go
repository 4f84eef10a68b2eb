// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import "regexp"

// localAddress matches the local end of a connection in an error, whose port differs each time.
var localAddress = regexp.MustCompile(`\S+:\d+->`)

// steady removes the parts of an error that differ each time, so that the status is not written
// again and again.
func steady(text string) string { return localAddress.ReplaceAllString(text, "") }

// steadyError is an error whose text stays the same while the cause does.
type steadyError struct{ error }

// Error implements error.
func (e steadyError) Error() string { return steady(e.error.Error()) }

func (e steadyError) Unwrap() error { return e.error }

func steadied(failure error) error {
	if failure == nil {
		return nil
	}
	return steadyError{failure}
}
