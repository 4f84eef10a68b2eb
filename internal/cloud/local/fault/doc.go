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

// Package fault says what a fault rule is: which faults the local cloud can have on purpose, whom a rule strikes, and when.
//
// A rule is a Spec that a user adds, and what became of it. Whether it strikes is drawn from its seed and the number of
// draws before, so that the same seed gives the same faults, also after the daemon was restarted.
//
// Limits: the package decides and changes nothing but the rule's own counters. What a fault does is done by the engine, and
// for calls by the server.
package fault
