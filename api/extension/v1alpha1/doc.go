// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the API of Foo's runtime extension: HookJob, the work
// that a lifecycle hook waits for, and Addon, objects for workload clusters.
//
// The group has the name that the labels and annotations of the runtime extension begin with. The
// group runtime.cluster.x-k8s.io belongs to Cluster API, and another extension may have a HookJob
// too.
//
// +kubebuilder:object:generate=true
// +groupName=foo.cluster.x-k8s.io
package v1alpha1

// Limits: the package holds types, constants and accessors. Cluster API does not know the group.
