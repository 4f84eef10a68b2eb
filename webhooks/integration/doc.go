// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the webhooks against a real kube-apiserver that calls them: both
// versions of each kind, what is refused and with which message, and what is allowed.
//
// Limits: no controllers run. Their own packages test what they do with the objects.
package integration
