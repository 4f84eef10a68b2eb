/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
