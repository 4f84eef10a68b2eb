// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons applies Addons, such as a network plugin or a cloud controller manager, to
// workload clusters.
//
// A pass reads the Addons that select a Cluster, fills in the templates of the variants for its
// version, and applies the objects by server-side apply with one field manager. Each pass does what
// can be done now, so it may be repeated at any time: an object of an unknown kind is retried,
// because its CRD may just have been applied, and add-ons with a higher order wait until those with
// a lower one are ready. If any part of an add-on cannot be read, the whole add-on is left out and
// waited for; the others are applied.
//
// Once all add-ons are ready, objects that an add-on no longer contains are deleted. An inventory in
// the workload cluster lists what was applied. It is extended before objects are applied and reduced
// after they are deleted, so nothing is forgotten if the extension ends in between.
//
// Tasks of hooks run the passes: when the control plane is initialized, before a step of its upgrade,
// for Addons that ask for it, and after the step. A controller requests another attempt of the first
// of these jobs if the content of an add-on changes. It compares hashes of the filled templates, so
// that it does nothing if a change has no effect.
//
// Limits: deleting an Addon leaves its objects. Readiness is what kstatus computes from the status of
// an object; a Service of type LoadBalancer need not have an address. An Addon is limited to the 1 MiB
// or so that an API server stores, and a Cluster to 1000 objects. generateName is not supported,
// because such an object could not be found again. A change of a Secret is noticed only when
// something else changes.
package addons
