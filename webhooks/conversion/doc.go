// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion converts Foo's kinds between v1beta1 and v1beta2, which is the hub and the
// stored version.
//
// The folders controlplane and infrastructure convert fields, with functions that conversion-gen
// generates where the fields match. roundtrip.go keeps what the other version cannot hold, in the
// same way for all kinds: in an annotation on the object, created only if something does not fit.
// So an object that is read and written back in either version stays the same, and a field that is
// new in v1beta2 survives a change through v1beta1 without a line of code here.
//
// Limits: status.conditions of v1beta1 is computed from the conditions of v1beta2 and not read
// back. Values that somebody writes there are lost. The same is true of all status fields that the
// v1beta1 contract requires and v1beta2 does not have. An item of a list that is changed through
// v1beta1 loses the fields that v1beta1 does not have; the other items of the list keep them.
package conversion
