// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package systemctl answers systemctl calls from kubeadm, users and bootstrap data.
//
// The client is this same program, called as systemctl. It passes its arguments to the instance's
// first process over a Unix socket and prints the answer. Output and exit codes match systemd's
// where a caller may depend on them.
//
// Limits: only the instance's own units, containerd and kubelet, exist. Every other unit is not
// found. Only the properties that describe a unit's state are shown.
package systemctl
