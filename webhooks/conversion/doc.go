// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion converts Foo's kinds between v1beta1 and v1beta2, the hub and the stored version. It is the only
// code that knows both.
//
// For each kind there are functions that write the fields of one version from those of the other, and nothing else. What
// the other version cannot hold is kept by roundtrip.go, the same way for all kinds: as an annotation on the object, made
// only when there is something that does not fit. So an object that is read and written back in either version is what
// it was, and a field that is new in v1beta2 survives a change through v1beta1 without a line of code here.
//
// Limits: status.conditions of v1beta1 is computed from the conditions of v1beta2 and not read back. What somebody writes
// there reaches nobody; that is also true of all the status that the v1beta1 contract asks for and v1beta2 does not have.
package conversion
