// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// withoutContent leaves out values that are more than a word or a number: they may hold what a user keeps secret, and
// errors are shown in conditions and logs.
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
