// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package daemon puts the local cloud together and runs it on this host: it checks what the host must have, locks the
// state folder, makes the network, serves the API to callers and names and images to instances, and removes everything again when asked to.
//
// Limits: it is composition. What the cloud does is in package engine, how in packages instance and loadbalancer.
package daemon
