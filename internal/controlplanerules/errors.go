// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// withoutContent omits values other than single words and numbers from the errors: they may contain
// a user's secrets, and errors appear in conditions and logs.
func withoutContent(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		switch err.BadValue.(type) {
		case string, bool, int, int32, int64, *int32:
		default:
			err.BadValue = field.OmitValueType{}
		}
	}
	return errs
}
