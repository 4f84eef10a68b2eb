// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package images gives containerd the images that a node comes with.
//
// The images are already unpacked, in a folder that all instances share and none can change. So a
// machine has them only once, on disk and in memory. Package images copies containerd's metadata
// about them, and puts a link in place of each unpacked layer.
package images
