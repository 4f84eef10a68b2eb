// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubelet knows how to configure and call the kubelet of an instance.
//
// The flags are those of kubeadm's systemd drop-in, read from the same files. The package adds the
// instance's provider ID and host name unless they are given, and a drop-in folder that overrides
// the configuration that kubeadm wrote. It writes the first file in that folder, with what every
// instance needs, and a serving certificate.
package kubelet
