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

// Package conformance tests that an implementation of the cloud interface keeps the interface's rules: calls that may be repeated,
// typed errors, pools that shrink by deletions only, events of all that changes. The clouds of this repository are held to it, and
// whoever writes another one can hold it to it:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Options{New: newTestAccount, Patience: 10 * time.Minute})
//	}
//
// Limits: it orders real instances, at most three at a time, with bootstrap data that does nothing. Quota, capacity, throttling,
// credentials and reports of bootstrap data cannot be caused through the interface, and are not tested. An instance is lost only where
// Options.Lose says how.
package conformance
