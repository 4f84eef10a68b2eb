// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts and reaps the processes of an instance.
//
// Its Table is the only place of the agent that starts or waits for a process. PID 1 inherits every orphan of the
// instance, so it waits for any child; whoever waited for one child alone would race with that. os/exec is therefore not
// used anywhere in the agent.
//
// Among the orphans are the shims of containerd, which outlive it. They take in the processes of their containers themselves and tell
// containerd how these ended, so nobody misses what is reaped here.
//
// Limits: one Table per program, since a program has one set of children.
package process
