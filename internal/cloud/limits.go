// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

// What names may have at most. Kubernetes allows longer names of objects, so admission checks those that become host names.
const (
	// MaxHostname is the length of a label in DNS.
	MaxHostname = 63
	// MaxHostnamePrefix leaves room for what the cloud appends to a pool's prefix.
	MaxHostnamePrefix = 57
)
