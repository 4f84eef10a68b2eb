// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud defines what a Foo cloud offers to one tenant: zones, instance types, images,
// quota, load balancers, instances and instance pools. It holds the interface, its values and its
// typed errors, but no implementation.
//
// Every call is idempotent. Ensure calls create what is missing, return what exists, and refuse to
// change immutable fields with an InvalidError. Delete calls start a deletion and return nil while
// it is in progress. They return a NotFoundError once nothing is left, so callers repeat the call
// until they get that error. A repeated call changes nothing, so it sends no event: callers may repeat
// it at each event.
//
// Reads are consistent. Controllers delete the Machine of an instance that a list omits, so a cloud
// whose own lists lag must hide that:
//   - Every answer reflects what any caller created or changed in earlier calls.
//   - A list never omits an instance or pool that exists from before the call until after it,
//     whatever else is created or deleted meanwhile.
//   - An object that was reported as gone stays gone.
//   - A read after an event returns the change that the event is about, or a later one.
//
// Limits: the package knows nothing of Cluster API, Kubernetes objects or controllers, and imports
// none of them. Tags express which objects belong together; the cloud stores and matches tags but
// never interprets them.
package cloud
