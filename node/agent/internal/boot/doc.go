// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package boot is the first process of an instance: it puts the other packages together, in the order that an instance needs.
//
// It prepares the machine that programs see, starts containerd, runs the bootstrap data, and ends the instance cleanly when it is told to:
// the kubelet first, so that it restarts nothing, then the programs of pods with etcd as the last, then containerd, which writes their last
// words, then whatever is left.
package boot
