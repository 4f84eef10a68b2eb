// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts and reaps the processes of an instance.
//
// Its Table is the only place in the agent that starts processes or waits for them. PID 1 inherits
// every orphan of the instance, so it waits for any child. A wait for one particular child would
// race with that. The agent therefore does not use os/exec to run programs.
//
// The orphans include containerd's shims, which outlive it. The shims reap the processes of their
// own containers and report their exits to containerd, so nothing is lost by reaping the shims
// here.
//
// Limits: one Table per program, because a program has one set of children.
package process
