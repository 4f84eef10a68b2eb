// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry is where instances pull images of containers from. It is a mirror of all registries: the images that were loaded into it
// are there under the names that they were loaded with, whichever registries these name, and what it does not have it fetches from the
// registry itself, through the network of the host.
//
// The images lie in a folder, as an OCI image layout: each blob in a file that is called by its hash, and written in one step.
//
// Limits: instances only read. What is fetched from others is passed on, not kept, and asked for without credentials. All tenants see all
// images.
package registry
