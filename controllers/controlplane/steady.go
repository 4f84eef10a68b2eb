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
