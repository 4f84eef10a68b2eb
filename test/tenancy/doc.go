// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tenancy tests that clusters of several tenants share a manager and a cloud, and nothing
// else.
//
// The API server is real, and so is the cloud's API with its tokens and tenants over TLS; only its
// machines are fake.
package tenancy
