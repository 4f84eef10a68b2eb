// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinetemplate reports for each FooMachineTemplate what a node created from it will
// have: CPUs, memory, architecture and operating system. The cluster autoscaler reads it to add the
// first node of a group.
//
// Limits: a cloud announces no changes of its catalog, so a changed size is noticed only when a
// template changes or at a resync.
package machinetemplate
