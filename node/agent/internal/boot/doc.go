// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package boot is the first process of an instance. It runs the other packages in the order that an
// instance needs.
//
// It prepares the machine that programs see, starts containerd, and runs the bootstrap data. When
// asked to, it stops the instance cleanly: first the kubelet, so that it restarts nothing; then the
// programs of pods, with etcd last; then containerd, which writes their last output; then whatever
// is left.
package boot
