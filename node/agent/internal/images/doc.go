// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package images gives containerd the images that a node comes with.
//
// They are unpacked already, in a folder that all instances share and none can change, so that a machine has them on disk and in memory
// once. What containerd knows of them is copied, and in the place of each unpacked layer stands a link to it.
package images
