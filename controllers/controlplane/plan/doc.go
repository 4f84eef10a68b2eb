// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next for a FooControlPlane. Decide is pure: its only input is the
// State, which the controller builds once per reconcile from what it observed. The returned
// Decision holds the reason and the message that conditions, events and metrics show.
//
// The rules run in a fixed order: finish what has begun, give up Machines that never joined and are
// out of date, remediate, roll out, and last scale. The first rule that acts decides. A rule that
// has to wait says whether the rules after it must wait too.
//
// Limits: a control plane that has lost all its Machines, its only Machine or etcd's quorum is not
// recovered.
package plan
