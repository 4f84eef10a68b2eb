// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud says what a Foo cloud offers: zones, instance types, images, quota, load balancers, instances and
// instance pools, seen by one tenant. It holds the interface, its values and its typed errors, and no implementation.
//
// Every call is idempotent. Ensure calls create what is missing, return what is there, and refuse a change of what can
// not change with an InvalidError. Delete calls start a deletion and return nil while it goes on; they return a
// NotFoundError once nothing is left, so a caller calls again until it sees that.
//
// Reads are consistent. Controllers delete the Machine of an instance that a list omits, so a cloud whose own lists lag must hide that:
//   - What a call has made or changed is in every answer to a later call, of whichever caller.
//   - A list omits no instance and no pool that existed from before the call until after it, whatever else is made or deleted
//     meanwhile.
//   - What was reported as gone stays gone.
//   - Whoever reads after an event sees the change that the event is about, or a later one.
//
// Limits: the package knows nothing of Cluster API, Kubernetes objects or controllers, and imports none of them. What
// belongs together is told by tags, which the cloud stores and matches but never interprets.
package cloud
