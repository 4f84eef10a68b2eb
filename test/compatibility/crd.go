// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compatibility holds the CRDs of the sources against those of earlier releases: what users have stored, what they
// write, and what they read by scripts must go on with the CRDs of the next release.
//
// Compare is pure. The tests of the package apply it to every release that is kept below test/e2e/testdata/releases.
//
// Limits: it compares structural schemas, as CRDs have them, and takes a rule in CEL or a regular expression that is not
// letter for letter the old one for a break, since it can not tell whether it allows more. It knows nothing of webhooks;
// webhooks/integration shows objects of earlier releases to them.
package compatibility

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Break is something that users of the older CRD lose.
type Break struct {
	// Where is the path in the CRD, for example v1beta2: spec.replicas, or empty for the kind as a whole.
	Where string
	// What is lost, as a sentence without a subject: "is required now".
	What string
}

// String returns the break in one line.
func (b Break) String() string {
	if b.Where == "" {
		return b.What
	}
	return b.Where + " " + b.What
}

// Compare returns all that users of the older CRD lose with the newer one: names that they call the kind by, versions,
// fields, values, defaults and subresources. It returns nothing if all that was valid stays so, and means the same.
func Compare(older, newer *apiextensionsv1.CustomResourceDefinition) []Break {
	found := compareNames(older, newer)
	for _, version := range older.Spec.Versions {
		index := slices.IndexFunc(newer.Spec.Versions, func(one apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return one.Name == version.Name
		})
		if index < 0 {
			found = append(found, Break{version.Name, "is gone, and objects may be stored in it"})
			continue
		}
		found = append(found, compareVersions(version, newer.Spec.Versions[index])...)
	}
	return found
}

// compareNames compares what the kind is called, and where it lives.
func compareNames(older, newer *apiextensionsv1.CustomResourceDefinition) []Break {
	var found []Break
	for _, one := range []struct{ what, before, now string }{
		{"group", older.Spec.Group, newer.Spec.Group},
		{"scope", string(older.Spec.Scope), string(newer.Spec.Scope)},
		{"kind", older.Spec.Names.Kind, newer.Spec.Names.Kind},
		{"plural", older.Spec.Names.Plural, newer.Spec.Names.Plural},
		{"singular", older.Spec.Names.Singular, newer.Spec.Names.Singular},
	} {
		if one.before != one.now {
			found = append(found, Break{What: "has the " + one.what + " " + one.now + " instead of " + one.before})
		}
	}
	for _, lost := range missing(older.Spec.Names.ShortNames, newer.Spec.Names.ShortNames) {
		found = append(found, Break{What: "has no short name " + lost + " any more"})
	}
	for _, lost := range missing(older.Spec.Names.Categories, newer.Spec.Names.Categories) {
		found = append(found, Break{What: "is not in the category " + lost + " any more"})
	}
	return found
}

// compareVersions compares two states of one version.
func compareVersions(older, newer apiextensionsv1.CustomResourceDefinitionVersion) []Break {
	if !older.Served {
		return nil
	}
	if !newer.Served {
		return []Break{{older.Name, "is not served any more"}}
	}
	var found []Break
	before, now := subresources(older), subresources(newer)
	if before.Status != nil && now.Status == nil {
		found = append(found, Break{older.Name, "has no status of its own any more"})
	}
	if before.Scale != nil && !equality.Semantic.DeepEqual(before.Scale, now.Scale) {
		found = append(found, Break{older.Name, "is not scaled as before"})
	}
	for _, field := range missing(older.SelectableFields, newer.SelectableFields) {
		found = append(found, Break{older.Name, "can not be selected by " + field.JSONPath + " any more"})
	}
	if older.Schema == nil || newer.Schema == nil {
		return found
	}
	return append(found, compareSchemas(older.Name+":", older.Schema.OpenAPIV3Schema, newer.Schema.OpenAPIV3Schema)...)
}

func subresources(version apiextensionsv1.CustomResourceDefinitionVersion) apiextensionsv1.CustomResourceSubresources {
	if version.Subresources == nil {
		return apiextensionsv1.CustomResourceSubresources{}
	}
	return *version.Subresources
}

// missing returns what is in before and not in now.
func missing[T comparable](before, now []T) []T {
	var lost []T
	for _, one := range before {
		if !slices.Contains(now, one) {
			lost = append(lost, one)
		}
	}
	return lost
}
