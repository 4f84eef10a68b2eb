// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config reads the local cloud's configuration file: what is on offer, and to whom.
//
// Limits: what differs from run to run (folders, addresses) comes as flags, not from here.
package config
