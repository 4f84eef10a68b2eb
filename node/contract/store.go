// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// StoredVersions returns a function that reports whether the operating system in a folder has all container
// images of a Kubernetes version. An operating system of a release that did not list its versions counts as
// having those of any: an upgrade that failed half-way leaves it with programs of this release, and they must
// still run the existing instances.
func StoredVersions(system string) (func(version string) bool, error) {
	list, err := os.ReadFile(filepath.Join(system, StoreVersions))
	if errors.Is(err, os.ErrNotExist) {
		if _, noStore := os.Stat(filepath.Join(system, StoreDir)); noStore == nil {
			return func(string) bool { return true }, nil
		}
	}
	if err != nil {
		return nil, err
	}
	versions := strings.Fields(string(list))
	return func(version string) bool { return slices.Contains(versions, version) }, nil
}
