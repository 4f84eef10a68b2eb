// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api is the contract between the local cloud's server and client: the paths, the JSON that
// package cloud does not already define, the errors, and the OpenAPI document that describes all of
// it to others.
//
// Limits: its only behavior is the conversion of errors.
package api
