// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compatibility compares the CRDs of the sources with those of earlier releases: stored
// objects, manifests and scripts of users must keep working with the CRDs of the next release.
//
// Compare is pure. The tests of the package apply it to every release in
// test/e2e/testdata/releases.
//
// Limits: it compares structural schemas, as in CRDs. It treats any changed CEL rule or regular
// expression, and any change of a keyword that it does not know, as a break, because it cannot tell
// whether the new one allows more. It ignores webhooks; test/integration/webhooks tests them with
// objects of earlier releases.
package compatibility

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// object is a decoded JSON object.
type object = map[string]any

// harmless says for a keyword whether everything that was valid stays valid and keeps its meaning.
// A value is nil if the keyword is absent. All other keywords must stay as they are.
var harmless = map[string]func(before, now any) bool{
	"description": always, "title": always, "example": always, "externalDocs": always,
	"maximum": notLower, "maxLength": notLower, "maxItems": notLower, "maxProperties": notLower,
	"minimum": notHigher, "minLength": notHigher, "minItems": notHigher, "minProperties": notHigher,
	"exclusiveMaximum": sameOrGone, "exclusiveMinimum": sameOrGone, "multipleOf": sameOrGone, "pattern": sameOrGone, "format": sameOrGone,
	"allOf": sameOrGone, "anyOf": sameOrGone, "oneOf": sameOrGone, "not": sameOrGone,
	"nullable": sameOrNew, "x-kubernetes-preserve-unknown-fields": sameOrNew,
	"enum":                     func(before, now any) bool { return now == nil || before != nil && contains(now, before) },
	"required":                 contains,
	"x-kubernetes-validations": func(before, now any) bool { return contains(rules(before), rules(now)) },
	"x-kubernetes-list-type":   sameBesides("atomic"), "x-kubernetes-map-type": sameBesides("granular"),
	// Outside of schemas.
	"shortNames": contained, "categories": contained, "selectableFields": contained,
	"served": sameOrNew, "status": sameOrNew, "scale": sameOrNew,
	// These do not bind users. Fields and versions are compared one by one.
	"listKind": always, "name": always, "storage": always, "deprecated": always, "deprecationWarning": always,
	"additionalPrinterColumns": always, "conversion": always, "preserveUnknownFields": always,
	"properties": always, "items": always, "additionalProperties": always,
	"names": always, "versions": always, "schema": always, "subresources": always,
}

func always(any, any) bool { return true }

func same(before, now any) bool { return reflect.DeepEqual(before, now) }

func sameOrGone(before, now any) bool { return now == nil || now == false || same(before, now) }

func sameOrNew(before, now any) bool { return before == nil || before == false || same(before, now) }

func notLower(before, now any) bool {
	return now == nil || before != nil && now.(float64) >= before.(float64)
}

func notHigher(before, now any) bool {
	return now == nil || before != nil && now.(float64) <= before.(float64)
}

// sameBesides treats an absent keyword like its default.
func sameBesides(value string) func(before, now any) bool {
	or := func(one any) any {
		if one == nil {
			return value
		}
		return one
	}
	return func(before, now any) bool { return or(before) == or(now) }
}

// contains reports whether a list has all elements of another one.
func contains(list, elements any) bool {
	for _, element := range listOf(elements) {
		if !slices.ContainsFunc(listOf(list), func(one any) bool { return same(one, element) }) {
			return false
		}
	}
	return true
}

func contained(before, now any) bool { return contains(now, before) }

func rules(validations any) any {
	list := listOf(validations)
	found := make([]any, 0, len(list))
	for _, one := range list {
		found = append(found, objectOf(one)["rule"])
	}
	return found
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func objectOf(value any) object {
	inner, _ := value.(object)
	return inner
}

// Compare returns everything that users of the older CRD lose with the newer one: names of the
// kind, versions, fields, values, defaults and subresources. It returns nothing if everything that
// was valid stays valid and keeps its meaning.
func Compare(older, newer object) []string {
	before, now := objectOf(older["spec"]), objectOf(newer["spec"])
	found := compareKeywords("spec", before, now)
	found = append(found, compareKeywords("names", objectOf(before["names"]), objectOf(now["names"]))...)
	for _, version := range listOf(before["versions"]) {
		name := objectOf(version)["name"]
		index := slices.IndexFunc(listOf(now["versions"]), func(one any) bool { return objectOf(one)["name"] == name })
		if index < 0 {
			found = append(found, fmt.Sprintf("%s is gone, and objects may be stored in it", name))
			continue
		}
		if objectOf(version)["served"] == true {
			found = append(found, compareVersions(fmt.Sprint(name), objectOf(version), objectOf(listOf(now["versions"])[index]))...)
		}
	}
	return found
}

func compareVersions(name string, before, now object) []string {
	found := compareKeywords(name, before, now)
	found = append(found, compareKeywords(name, objectOf(before["subresources"]), objectOf(now["subresources"]))...)
	return append(found, compareSchemas(name+":", schemaOf(before), schemaOf(now))...)
}

func schemaOf(version object) object { return objectOf(objectOf(version["schema"])["openAPIV3Schema"]) }

// compareKeywords compares the values of all keywords of two objects.
func compareKeywords(where string, before, now object) []string {
	var found []string
	for _, keyword := range slices.Sorted(maps.Keys(union(before, now))) {
		check, known := harmless[keyword]
		if !known {
			check = same
		}
		if !check(before[keyword], now[keyword]) {
			found = append(found, fmt.Sprintf("%s has the %s %s instead of %s", where, keyword, text(now[keyword]), text(before[keyword])))
		}
	}
	return found
}

func union(a, b object) object {
	all := maps.Clone(a)
	if all == nil {
		all = object{}
	}
	maps.Copy(all, b)
	return all
}

// compareSchemas compares two schemas recursively. Where is the path of their value.
func compareSchemas(where string, before, now object) []string {
	found := compareKeywords(where, before, now)
	fields, newFields := objectOf(before["properties"]), objectOf(now["properties"])
	for _, name := range slices.Sorted(maps.Keys(union(fields, newFields))) {
		switch path := field(where, name); {
		case fields[name] == nil:
			found = append(found, compareNew(path, before, objectOf(newFields[name]))...)
		case newFields[name] == nil:
			found = append(found, path+" is gone")
		default:
			found = append(found, compareSchemas(path, objectOf(fields[name]), objectOf(newFields[name]))...)
		}
	}
	found = append(found, compareElements(where+"[]", before["items"], now["items"])...)
	return append(found, compareElements(where+"{}", before["additionalProperties"], now["additionalProperties"])...)
}

// compareElements compares the schemas of elements, which are not restricted if now is true.
func compareElements(where string, before, now any) []string {
	if before == nil || before == false || now == true {
		return nil
	}
	if now == nil || now == false {
		return []string{where + " is gone"}
	}
	if before == true {
		return []string{where + " no longer accepts any value"}
	}
	return compareSchemas(where, objectOf(before), objectOf(now))
}

// compareNew checks a field that the older schema of its object does not have.
func compareNew(where string, parent, added object) []string {
	var found []string
	if added["default"] != nil {
		found = append(found, fmt.Sprintf("%s is new and has the default %s, which existing objects get as well", where, text(added["default"])))
	}
	if parent["x-kubernetes-preserve-unknown-fields"] == true || parent["additionalProperties"] != nil {
		found = append(found, where+" is new where any field was allowed")
	}
	return found
}

func field(where, name string) string {
	if where[len(where)-1] == ':' {
		return where + " " + name
	}
	return where + "." + name
}

// text shows a value as JSON.
func text(value any) string {
	if value == nil {
		return "nothing"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}
