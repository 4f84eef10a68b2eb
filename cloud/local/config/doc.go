// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config reads the local cloud's configuration file: what the cloud offers, and to which
// tenants.
//
// Limits: settings that differ from run to run (folders, addresses) are flags and are not read
// here.
package config
