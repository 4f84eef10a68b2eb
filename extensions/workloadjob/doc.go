// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workloadjob runs Jobs in workload clusters for the tasks of hooks: Jobs that users supply
// in ConfigMaps, and Jobs that a task makes itself. A Job is named after the HookJob, the attempt and
// the ExtensionConfig, so it is created once, however often the task runs.
//
// Limits: a Job needs a cluster whose controller manager and scheduler work. What its Pods write to
// their termination message comes from the workload cluster, and must not be trusted.
package workloadjob
