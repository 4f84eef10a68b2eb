// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check says what a machine lacks for instances to work in full.
//
// Each instance has a network namespace of its own, in which kube-proxy and the pods' network translate addresses with the nftables of the
// host's kernel. A kernel without them is found out here, before pods wait for each other without end.
package check
