// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inotify raises the host's limit on inotify instances while clouds exist. It is the only
// setting of the host that a cloud changes.
//
// Root of all instances counts as one user, and the kernel allows a user 128 inotify instances by
// default. A node with a control plane needs about 20 and a worker 10, so three clusters of four nodes
// are too many. A namespace would not help: it counts for the user that created it. The default of
// the other limit, on watches, grows with the host's memory and is enough.
package inotify
