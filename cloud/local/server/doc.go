// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is the HTTP front end of the local cloud. It authenticates callers, decodes
// requests, calls the tenant's cloud and encodes the answers.
//
// Limits: it makes no decisions about the cloud, and does not serve plain TCP.
package server
