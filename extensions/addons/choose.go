// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/labels"
)

// target is what add-ons are chosen for.
type target struct {
	labels  labels.Set
	version semver.Version
	moment  Moment
}

// choice is which variants to apply.
type choice struct {
	// chosen is sorted by the names of the add-ons.
	chosen []source
	// missing are the add-ons that have variants for the Cluster at this moment, but none for its
	// version.
	missing []string
	// problems explain why add-ons are left out.
	problems []string
}

// choose picks at most one variant of each add-on.
func choose(sources []source, want target) choice {
	sources = slices.SortedFunc(slices.Values(sources), func(a, b source) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	byAddon := map[string][]source{}
	for _, variant := range sources {
		byAddon[variant.addon] = append(byAddon[variant.addon], variant)
	}
	var made choice
	for _, addon := range slices.Sorted(maps.Keys(byAddon)) {
		made.add(addon, byAddon[addon], want)
	}
	return made
}

func (c *choice) add(addon string, variants []source, want target) {
	if addon == "" {
		c.problems = append(c.problems, fmt.Sprintf("%s: label %s is empty, want the name of an add-on", names(variants), AddonLabel))
		return
	}
	var fitting []source
	meant, broken := false, false
	for _, variant := range variants {
		fit, err := match(variant, want)
		if err != nil {
			c.problems = append(c.problems, err.Error())
			broken = true
			continue
		}
		meant = meant || fit != notMeant
		if fit == fits {
			fitting = append(fitting, variant)
		}
	}
	switch {
	case broken:
		// The variant that cannot be read may be the wanted one.
	case len(fitting) > 1:
		c.problems = append(c.problems, fmt.Sprintf("add-on %s has several variants for v%s, want one: %s", addon, want.version, names(fitting)))
	case len(fitting) == 1:
		c.chosen = append(c.chosen, fitting[0])
	case meant:
		c.missing = append(c.missing, addon)
	}
}

// fit is how a variant suits a target.
type fit int

const (
	// notMeant is a variant for other Clusters or another moment.
	notMeant fit = iota
	// otherVersion is a variant for other versions only.
	otherVersion
	// fits is the variant that is wanted.
	fits
)

func match(variant source, want target) (fit, error) {
	selected, err := variant.selects(want.labels)
	if err != nil || !selected {
		return notMeant, err
	}
	applies, err := variant.appliesAt(want.moment)
	if err != nil || !applies {
		return notMeant, err
	}
	within, err := variant.fits(want.version)
	if err != nil || !within {
		return otherVersion, err
	}
	return fits, nil
}

func names(sources []source) string {
	list := make([]string, 0, len(sources))
	for _, variant := range sources {
		list = append(list, variant.String())
	}
	return strings.Join(list, ", ")
}
