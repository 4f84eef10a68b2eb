// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubelet knows how the kubelet of an instance is called and set up.
//
// Its flags are those of kubeadm's drop-in for systemd, from the same files, plus provider ID and host name of the instance
// where these are not given, and a folder of configuration that changes what kubeadm has written. The package writes the first file there,
// with what every instance needs.
package kubelet
