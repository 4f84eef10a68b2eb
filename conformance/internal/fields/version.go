// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/blang/semver/v4"
)

// SameVersion reports whether Cluster API takes two texts for the same version: it needs neither the
// v nor the patch.
func SameVersion(a, b string) bool {
	one, err := semver.ParseTolerant(a)
	other, otherErr := semver.ParseTolerant(b)
	return err == nil && otherErr == nil && one.Equals(other) && slices.Equal(one.Build, other.Build)
}

// SameRelease is like SameVersion, but one of the texts may leave out the end of the build metadata.
func SameRelease(a, b string) bool {
	one, err := semver.ParseTolerant(a)
	other, otherErr := semver.ParseTolerant(b)
	n := min(len(one.Build), len(other.Build))
	return err == nil && otherErr == nil && one.Equals(other) && slices.Equal(one.Build[:n], other.Build[:n])
}

// SameMinor reports whether two texts name the same minor version of Kubernetes.
func SameMinor(a, b string) bool {
	one, err := semver.ParseTolerant(a)
	other, otherErr := semver.ParseTolerant(b)
	return err == nil && otherErr == nil && one.Major == other.Major && one.Minor == other.Minor
}

// CheckOrder returns an error if a version is unreadable or comes before an older one. As for Cluster API,
// build metadata counts, too.
func CheckOrder(versions []string) error {
	var previous semver.Version
	for i, text := range versions {
		version, err := semver.ParseTolerant(text)
		if err != nil {
			return fmt.Errorf("%q is no version: %w", text, err)
		}
		if i > 0 && Compare(version, previous) == -1 {
			return fmt.Errorf("%s comes after %s, which is newer", text, versions[i-1])
		}
		previous = version
	}
	return nil
}

// Unordered is the result of comparing two builds that only differ.
const Unordered = 2

// Compare is like Compare of the versions, but considers builds, as Cluster API does.
func Compare(a, b semver.Version) int {
	if order := a.Compare(b); order != 0 {
		return order
	}
	for i := range min(len(a.Build), len(b.Build)) {
		if order := compareBuilds(a.Build[i], b.Build[i]); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a.Build), len(b.Build))
}

// compareBuilds compares a part of two builds: numbers have an order and come before texts.
func compareBuilds(a, b string) int {
	x, notX := strconv.ParseUint(a, 10, 64)
	y, notY := strconv.ParseUint(b, 10, 64)
	switch {
	case notX == nil && notY == nil:
		return cmp.Compare(x, y)
	case notX == nil:
		return -1
	case notY == nil:
		return 1
	case a == b:
		return 0
	default:
		return Unordered
	}
}
