// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quickstart brings up a management cluster, a Foo cloud and one workload cluster on this
// machine, shows the progress, and tears everything down again.
//
// Everything that it creates is in one state folder, except the cloud's network interface and namespaces,
// which the cloud itself removes. Problems that can be detected in advance are reported before
// anything is started.
//
// It also runs the management cluster in the background, for any number of workload clusters that
// are created and deleted one by one.
//
// Limits: Linux and root only. One state folder, bridge and network per running quickstart.
package quickstart
