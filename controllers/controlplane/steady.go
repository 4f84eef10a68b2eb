// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import "regexp"

// localAddress is the near end of a connection in the text of an error, whose port is another one each time.
var localAddress = regexp.MustCompile(`\S+:\d+->`)

// steady returns the text of an error without what differs each time the same thing fails. What is shown of it would
// otherwise be written again and again.
func steady(text string) string { return localAddress.ReplaceAllString(text, "") }

// steadyError is an error whose text stays the same for as long as the same thing fails.
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
