// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs complete stories on real machines. Each story uses only the public interfaces of
// the built programs: the flags and the output of quickstart, foocloud, clusterctl and kubectl, and
// the API of the management and workload clusters. It is built with the tag e2e, and needs root and
// the programs in bin/.
//
// All stories share one management cluster. Each has its own namespace, and deletes its clusters at
// the end. Stories with the label slow take minutes each and run only on request:
// make e2e LABELS='control-plane' runs all stories about control planes, and an empty LABELS runs
// all stories.
//
// Limits: it does not measure speed, which test/bench does, and runs one story at a time.
package e2e
