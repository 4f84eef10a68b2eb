// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine is the local cloud itself: it decides what is made, and keeps what runs in step with what is stored.
//
// Every call of a tenant is one transaction on the store. What follows from it (starting a process, stopping one) is
// done by one supervisor per instance and per load balancer, which acts on what is stored, so that a restarted daemon
// goes on where the last one was killed. Nothing is polled: calls, ended processes and reports are the events.
//
// Limits: the engine knows no HTTP and no namespaces. Processes are behind the interfaces Machines and Balancers.
package engine
