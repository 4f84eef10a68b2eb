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

// Package fake is a cloud in memory, for tests of what uses a cloud. It keeps the rules of the cloud interface, tells of
// changes as events, counts calls, and fails on purpose where a test asks for it.
//
// By default things happen at once: an instance runs when its order returns, and a deletion is over when its call
// returns. With Options.Manual they wait in state Pending or Deleting until the test says otherwise.
//
// Limits: it runs nothing, gives out addresses that nobody listens on, and keeps no state after the process.
package fake
