// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console is the web console of the local cloud: a page that shows what a tenant has, and
// operates it if the token permits that. The page is a client of the API like any other.
//
// Limits: it serves files, and knows no tokens. The page needs no build and loads nothing from
// elsewhere.
package console
