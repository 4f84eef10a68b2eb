// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quickstart brings up a management cluster, a Foo cloud and one workload cluster on this machine, shows how
// far it is, and takes everything down again.
//
// All that it makes lies in one state folder, except the bridge and the namespaces of the cloud, which the cloud
// removes itself. What can be known to be wrong is said before anything is started.
//
// Limits: Linux and root only. One state folder, bridge and network per running quickstart.
package quickstart
