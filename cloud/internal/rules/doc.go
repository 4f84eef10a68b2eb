// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rules holds the rules of the cloud interface that its implementations share: what can be
// ordered, what is immutable, what a quota allows, and how instances are spread over zones.
package rules
