// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package daemon assembles the local cloud and runs it on this host. It checks the host's
// prerequisites, locks the state folder, creates the network, serves the API to callers, serves DNS
// and container images to instances, and removes everything again on request.
//
// Limits: it only wires other packages together. Package engine defines what the cloud does;
// packages instance and loadbalancer define how.
package daemon
