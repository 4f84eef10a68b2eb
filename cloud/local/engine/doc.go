// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine is the local cloud itself. It decides what to create, and keeps what runs in sync
// with what is stored.
//
// Every tenant call is one transaction on the store. The resulting actions, such as starting or
// stopping a process, are done by one supervisor per instance and per load balancer. Supervisors
// act on the stored state, so a restarted daemon continues where the previous one was killed.
// Nothing is polled: calls, ended processes and reports are the events.
//
// Limits: the engine knows nothing about HTTP and namespaces. Processes are hidden behind the
// interfaces Machines and Balancers.
package engine
