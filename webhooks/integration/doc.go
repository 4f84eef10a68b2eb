// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the webhooks against a real kube-apiserver that calls them: both versions of each kind, what is
// refused with which words, and what is allowed.
//
// Limits: no controller runs. What controllers do with the objects is tested where they are.
package integration
