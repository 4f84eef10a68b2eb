// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supervisor runs programs as children of this process. It starts each in its own process
// group with its output in a log file, waits until it is ready, restarts it when it dies, and stops
// all in the reverse order of their start.
//
// Children get SIGTERM from the kernel when this process dies, however it dies, so none outlives
// it. Their environment is PATH and the requested variables only, so that the caller's proxy or
// kubeconfig does not leak into them.
//
// Limits: Linux only, because of the death signal. It knows nothing about the programs that it
// runs.
package supervisor
