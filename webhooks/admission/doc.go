// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission is what the webhooks that admit Foo's kinds share: how the rules of a kind become a validator, how a
// change is compared with what may change, and what a refusal says.
//
// The rules themselves are in one file per kind in the folders controlplane and infrastructure. A rule is a pure function of
// an object, or of an object before and after a change.
//
// Validation ratchets: what was wrong with an object before is no reason to refuse a change that leaves it alone. So a rule
// may be added without making anybody's objects unchangeable, and finalizers can always go.
//
// Limits: a webhook sees one object. Whether what it refers to exists is the controllers' business, and they say so in
// conditions.
package admission
