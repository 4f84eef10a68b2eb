// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api is what the local cloud's server and client agree on: the paths, the JSON that is not already described
// by package cloud, the errors, and the OpenAPI document that says all of it to others.
//
// Limits: it holds no behaviour but the translation of errors.
package api
