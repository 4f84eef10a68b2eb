// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check reports what instances need that a machine lacks.
//
// Each instance has its own network namespace, in which kube-proxy and the pod network translate
// addresses with the nftables of the host's kernel. This check detects a kernel that lacks nftables
// before pods wait for each other forever.
package check
