// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine is the machine that programs in an instance see.
//
// An instance shares the kernel of the host, which tells every program of the host's memory, processors and settings. A kubelet that is
// not changed would report them as its own and change the settings. So small files with what is the instance's are bound over those of the
// kernel: the instance's size, and settings with the values that the kubelet demands. Pods have file systems of the kernel of their own
// and see the host's; what they may use of it is limited by cgroups.
//
// The package also prepares what programs in the instance take for granted of a machine: mounts that are shared with containers, and
// cgroups that containers can be put in.
//
// Limits: the files are written once. Root in the instance can take the mounts away, which changes what the instance says of itself and
// nothing that it may use.
package machine
