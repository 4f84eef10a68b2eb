// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs has no code: its tests hold the pages of docs/ and the README to the sources. Links lead somewhere, the targets
// of make and the files of this repository that pages name are there.
//
// Limits: it does not know whether what a page says of them is true.
package docs
