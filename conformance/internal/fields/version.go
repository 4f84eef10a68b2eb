// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"slices"

	"github.com/blang/semver/v4"
)

// SameVersion reports whether Cluster API takes two texts for the same version: it needs neither the
// v nor the patch.
func SameVersion(a, b string) bool {
	one, err := semver.ParseTolerant(a)
	other, otherErr := semver.ParseTolerant(b)
	return err == nil && otherErr == nil && one.Equals(other) && slices.Equal(one.Build, other.Build)
}

// SameRelease is like SameVersion, but ignores build metadata.
func SameRelease(a, b string) bool {
	one, err := semver.ParseTolerant(a)
	other, otherErr := semver.ParseTolerant(b)
	return err == nil && otherErr == nil && one.Equals(other)
}
