// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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
