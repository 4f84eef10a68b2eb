// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supervisor runs programs as children of this process: it starts them in process groups of their own with
// their output in a log file, waits until they are ready, starts them again when they die, and stops them in the
// reverse order of their start.
//
// Children get SIGTERM from the kernel when this process dies, however it dies, so none outlives it. They get no
// environment but PATH and what is asked for, so that a proxy or a kubeconfig of the caller does not leak into them.
//
// Limits: Linux only, since the death signal is. It knows nothing of what it runs.
package supervisor
