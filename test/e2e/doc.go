// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tells whole stories on real machines. Each story drives the built programs through their public faces
// only: the flags and the output of quickstart, foocloud, clusterctl and kubectl, and the API of the management and
// workload clusters. It is built with the tag e2e, and needs root and the programs in bin/.
//
// One management cluster serves all stories; each has a namespace of its own, and deletes its clusters at its end. Those
// with the label slow take minutes each and are left out unless asked for: make e2e LABELS='control-plane' runs all about
// control planes, an empty LABELS all there are.
//
// Limits: it says nothing of speed, which test/bench measures, and runs one story at a time.
package e2e
