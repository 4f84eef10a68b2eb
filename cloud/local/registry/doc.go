// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry is the registry that instances pull container images from. It is a mirror of all
// registries: it serves images that were loaded into it, under the names that they were loaded
// with, whichever registry those name. It fetches other images from their own registry, through the
// host's network.
//
// The images are stored in a folder in OCI image layout. Each blob is a file that is named by its
// hash and written atomically.
//
// Limits: instances can only read. Images from other registries are fetched without credentials and
// not stored. All tenants see all images.
package registry
