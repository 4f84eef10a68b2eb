// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is the HTTP face of the local cloud: it knows who calls, decodes, asks the tenant's cloud, encodes.
//
// Limits: it decides nothing about the cloud, and serves no plain TCP.
package server
