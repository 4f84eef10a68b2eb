// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine sets up the machine that programs in an instance see.
//
// An instance shares the host's kernel, which shows every program the host's memory, processors and
// settings. An unmodified kubelet would report these as its own and change the settings. So small
// files with the instance's values are bind-mounted over the kernel's: the instance's size, and
// settings with the values that the kubelet requires. Pods mount their own kernel file systems and
// see the host's values; cgroups limit what they may use.
//
// The package also prepares what programs in the instance expect of a machine: mounts that are
// shared with containers, and cgroups that containers can be put in.
//
// Limits: the files are written once. Root in the instance can unmount them, which changes what the
// instance reports about itself but not what it may use.
package machine
