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

// Package plan decides what is done next for a FooControlPlane. Decide is pure: it knows nothing but the State, which the
// controller makes once in each reconcile from what it observed, and it returns a Decision, whose reason and message are
// what conditions, events and metrics say.
//
// The rules are asked in one order: what has begun is finished, what never joined and is out of date is given up, what is
// broken is repaired, what is out of date is replaced, and last the number of Machines is changed. The first rule that
// acts decides. A rule that has to wait says whether the rules after it must wait as well.
//
// Limits: a control plane that has lost all its Machines, its only Machine or etcd's quorum is not recovered.
package plan
