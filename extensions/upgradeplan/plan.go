// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/cluster-api/util/version"
)

// maxSkew is how many minor versions workers may be older than their control plane.
const maxSkew = 3

// unordered is what Cluster API's comparison returns for versions that differ only in builds
// without an order.
const unordered = 2

// mostVersions is how many versions a message names.
const mostVersions = 20

// release is a Kubernetes version and its text.
type release struct {
	text string
	semver.Version
}

// minor returns only the minor version.
func (r release) minor() string { return fmt.Sprintf("v%d.%d", r.Major, r.Minor) }

func parse(text string) (release, error) {
	parsed, err := semver.ParseTolerant(text)
	return release{text: text, Version: parsed}, err
}

// readVersions ignores texts that are not versions, and sorts the others, oldest first. Versions
// that differ only in their builds are sorted by build if the builds have an order, and
// alphabetically otherwise.
func readVersions(texts []string) []release {
	read := make([]release, 0, len(texts))
	for _, text := range texts {
		if parsed, err := semver.Parse(strings.TrimPrefix(text, "v")); err == nil {
			read = append(read, release{text: "v" + parsed.String(), Version: parsed})
		}
	}
	slices.SortFunc(read, func(a, b release) int { return cmp.Compare(a.text, b.text) })
	read = slices.CompactFunc(read, func(a, b release) bool { return a.text == b.text })
	slices.SortStableFunc(read, func(a, b release) int {
		order := version.Compare(a.Version, b.Version, version.WithBuildTags())
		if order == unordered {
			return 0
		}
		return order
	})
	return read
}

// same reports whether two versions are equal, including their builds.
func same(a, b semver.Version) bool { return version.Compare(a, b, version.WithBuildTags()) == 0 }

// upgrade is the requested upgrade.
type upgrade struct {
	from, to release
}

// readUpgrade refuses upgrades for which no plan is possible.
func readUpgrade(from, workers, to string) (upgrade, error) {
	var read upgrade
	var err error
	if read.from, err = parse(from); err != nil {
		return read, fmt.Errorf("the version of the control plane is %q, but must be a semantic version such as v1.35.4", from)
	}
	if read.to, err = parse(to); err != nil {
		return read, fmt.Errorf("the version to upgrade to is %q, but must be a semantic version such as v1.36.3", to)
	}
	if version.Compare(read.to.Version, read.from.Version, version.WithBuildTags()) < 0 {
		return read, fmt.Errorf("the version to upgrade to is %s, but must be at least %s, the version of the control plane", to, from)
	}
	if read.to.Major != read.from.Major {
		return read, fmt.Errorf("the version to upgrade to is %s, but must have the major version of the control plane, which has %s", to, from)
	}
	return read, read.checkWorkers(workers)
}

// checkWorkers refuses workers that are too old for their control plane. Cluster API has no step
// for them and would silently leave them at their version.
func (u upgrade) checkWorkers(text string) error {
	if text == "" {
		return nil
	}
	oldest, err := parse(text)
	if err != nil {
		return fmt.Errorf("the version of the workers is %q, but must be a semantic version such as v1.35.4", text)
	}
	if oldest.Major == u.from.Major && oldest.Minor+maxSkew < u.from.Minor {
		return fmt.Errorf("the oldest workers have %s, but must be at most %d minor versions below the control plane, which has %s", text, maxSkew, u.from.text)
	}
	return nil
}

// plan returns the steps of the control plane through the available versions, which must be sorted.
// Only the last step may be a pre-release.
func (u upgrade) plan(there []release) ([]string, error) {
	if !slices.ContainsFunc(there, func(one release) bool { return same(one.Version, u.to.Version) }) {
		return nil, fmt.Errorf("version %s is not available; available: %s", u.to.text, list(there))
	}
	if same(u.from.Version, u.to.Version) {
		return nil, nil
	}
	newest := map[uint64]release{}
	for _, one := range there {
		if one.Major == u.from.Major && len(one.Pre) == 0 {
			newest[one.Minor] = one
		}
	}
	var steps, missing []string
	for minor := u.from.Minor + 1; minor < u.to.Minor && len(missing) < mostVersions; minor++ {
		if step, found := newest[minor]; found {
			steps = append(steps, step.text)
		} else {
			missing = append(missing, release{Version: semver.Version{Major: u.from.Major, Minor: minor}}.minor())
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("an upgrade from %s to %s must pass through releases of %s, which are not available; available: %s",
			u.from.text, u.to.text, strings.Join(missing, ", "), list(there))
	}
	return append(steps, u.to.text), nil
}

// list names the newest versions.
func list(there []release) string {
	if len(there) == 0 {
		return "none"
	}
	var names []string
	for _, one := range there[max(0, len(there)-mostVersions):] {
		names = append(names, one.text)
	}
	return strings.Join(names, ", ")
}
