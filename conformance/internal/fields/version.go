// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
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
		if order := version.Compare(previous); i > 0 && (order < 0 || order == 0 && olderBuild(version.Build, previous.Build)) {
			return fmt.Errorf("%s comes after %s, which is newer", text, versions[i-1])
		}
		previous = version
	}
	return nil
}

// olderBuild reports whether a build is older than another one. Words, such as the hash of a commit, have no
// order.
func olderBuild(build, other []string) bool {
	for i := range min(len(build), len(other)) {
		if build[i] == other[i] {
			continue
		}
		number, err := strconv.ParseUint(build[i], 10, 64)
		otherNumber, otherErr := strconv.ParseUint(other[i], 10, 64)
		if err == nil && otherErr == nil {
			return number < otherNumber
		}
		return err == nil // a number is older than a word
	}
	return len(build) < len(other)
}
