// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compatibility compares the CRDs of the sources with those of earlier releases: stored
// objects, manifests and scripts of users must keep working with the CRDs of the next release.
//
// Compare is pure. The tests of the package apply it to every release in
// test/e2e/testdata/releases.
//
// Limits: it compares structural schemas, as in CRDs. It treats any changed CEL rule or regular
// expression as a break, because it cannot tell whether the new one allows more. It ignores
// webhooks; test/integration/webhooks tests them with objects of earlier releases.
package compatibility

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Break is something that users of the older CRD lose.
type Break struct {
	// Where is the path in the CRD, for example v1beta2: spec.replicas, or empty for the kind as a
	// whole.
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

// Compare returns everything that users of the older CRD lose with the newer one: names of the
// kind, versions, fields, values, defaults and subresources. It returns nothing if everything that
// was valid stays valid and keeps its meaning.
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

// compareNames compares the names, the group and the scope of the kind.
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
		found = append(found, Break{What: "no longer has the short name " + lost})
	}
	for _, lost := range missing(older.Spec.Names.Categories, newer.Spec.Names.Categories) {
		found = append(found, Break{What: "is no longer in the category " + lost})
	}
	return found
}

// compareVersions compares two states of one version.
func compareVersions(older, newer apiextensionsv1.CustomResourceDefinitionVersion) []Break {
	if !older.Served {
		return nil
	}
	if !newer.Served {
		return []Break{{older.Name, "is no longer served"}}
	}
	var found []Break
	before, now := subresources(older), subresources(newer)
	if before.Status != nil && now.Status == nil {
		found = append(found, Break{older.Name, "no longer has a status subresource"})
	}
	if before.Scale != nil && !equality.Semantic.DeepEqual(before.Scale, now.Scale) {
		found = append(found, Break{older.Name, "is not scaled as before"})
	}
	for _, field := range missing(older.SelectableFields, newer.SelectableFields) {
		found = append(found, Break{older.Name, "can no longer be selected by " + field.JSONPath})
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

// missing returns the elements of before that are not in now.
func missing[T comparable](before, now []T) []T {
	var lost []T
	for _, one := range before {
		if !slices.Contains(now, one) {
			lost = append(lost, one)
		}
	}
	return lost
}
