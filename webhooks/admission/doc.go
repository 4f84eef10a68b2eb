// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission holds what the webhooks that admit Foo's kinds share: how the rules of a kind
// become a validator, how a change is compared with what may change, and what a refusal says.
//
// The rules themselves are in the folders controlplane and infrastructure, in one file per kind. A
// rule that refuses is a pure function of an object, or of an object before and after a change.
//
// Validation ratchets: problems that an object already had do not block a change that leaves them
// alone. So a new rule never makes existing objects unchangeable, and finalizers can always be
// removed.
//
// Limits: a refusal depends on one object only. The controllers check whether referenced objects
// exist, and report that in conditions.
package admission
