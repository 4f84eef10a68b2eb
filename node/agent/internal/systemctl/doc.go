// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package systemctl answers the calls of systemctl that kubeadm, users and bootstrap data make.
//
// The client is this same program, called as systemctl; it hands its arguments to the first process of the instance over a unix
// socket and prints what that answers. Output and exit codes are systemd's where a caller may look at them.
//
// Limits: there are only the units that the instance gives, containerd and kubelet. Every other unit is not found. Of a unit's properties,
// only those that tell its state are shown.
package systemctl
