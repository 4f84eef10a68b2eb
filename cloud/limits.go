// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

// Length limits of names. Kubernetes allows longer object names, so admission checks the names that
// become host names.
const (
	// MaxHostname is the maximum length of a DNS label.
	MaxHostname = 63
	// MaxHostnamePrefix leaves room for the suffix that the cloud appends to a pool's prefix.
	MaxHostnamePrefix = 57
)

// Limits of the size of a disk.
const (
	// MinDiskBytes is the smallest disk that can hold a file system and a node.
	MinDiskBytes = 64 << 20
	// MaxDiskBytes is the largest disk that a file on any common file system can hold.
	MaxDiskBytes = 8 << 40
)
