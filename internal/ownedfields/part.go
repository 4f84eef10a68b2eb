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

package ownedfields

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Part is a part of an object's fields that one field manager looks after.
type Part struct {
	// Manager is the field manager of the part.
	Manager string
	// Creator is the field manager that the object was created by.
	Creator string
	// Fields as the object must have them, in its own structure.
	Fields map[string]any
	// Places are where the part's elements are. Elements that are at none of them are never taken away.
	Places []Place
	// Fixed are names of elements of maps that the part will always say. They need not be taken over.
	Fixed []string
	// Takeover says what of the creator's becomes the part's.
	Takeover Takeover
}

// Takeover says what of the creator's fields becomes a part's.
type Takeover string

const (
	// TakeoverSaid takes over the elements that the part says, at places that the creator uses for other things too. It has to
	// happen while the part still says what it said when the object was created.
	TakeoverSaid Takeover = "Said"
	// TakeoverAll takes over all elements at the places, which the creator uses for the part only.
	TakeoverAll Takeover = "All"
)

// Place is a map or an associative list in an object.
type Place struct {
	// Path from the object's root.
	Path []string
	// Keys of an associative list's items; none for a map.
	Keys []string
}

// Hash changes whenever the part says something else.
func (p Part) Hash() (uint64, error) {
	// Maps are encoded in the order of their keys.
	encoded, err := json.Marshal(p.Fields)
	if err != nil {
		return 0, fmt.Errorf("encoding the fields of %s: %w", p.Manager, err)
	}
	hash := fnv.New64a()
	_, err = hash.Write(encoded)
	return hash.Sum64(), err
}

// Met says whether the object has all that the part says.
func (p Part) Met(object map[string]any) bool { return contains(object, p.Fields) }

func contains(actual, wanted any) bool {
	switch typed := wanted.(type) {
	case map[string]any:
		return containsMap(actual, typed)
	case []any:
		return containsList(actual, typed)
	default:
		return apiequality.Semantic.DeepEqual(actual, wanted)
	}
}

func containsMap(actual any, wanted map[string]any) bool {
	has, ok := actual.(map[string]any)
	if !ok {
		return len(wanted) == 0
	}
	for key, value := range wanted {
		found, ok := has[key]
		if !ok || !contains(found, value) {
			return false
		}
	}
	return true
}

func containsList(actual any, wanted []any) bool {
	has, ok := actual.([]any)
	if !ok {
		return len(wanted) == 0
	}
	for _, item := range wanted {
		found := false
		for _, candidate := range has {
			found = found || contains(candidate, item)
		}
		if !found {
			return false
		}
	}
	return true
}

// said returns the elements that the part says at a place.
func (p Part) said(place Place) []fieldpath.PathElement {
	value, ok, err := unstructured.NestedFieldNoCopy(p.Fields, place.Path...)
	if !ok || err != nil {
		return nil
	}
	var elements []fieldpath.PathElement
	switch typed := value.(type) {
	case map[string]any:
		for key := range typed {
			elements = append(elements, fieldpath.FieldNameElement(key))
		}
	case []any:
		for _, item := range typed {
			fields, ok := item.(map[string]any)
			if ok {
				elements = append(elements, place.element(fields))
			}
		}
	}
	return elements
}

// element names an item of an associative list.
func (p Place) element(item map[string]any) fieldpath.PathElement {
	pairs := make([]any, 0, 2*len(p.Keys))
	for _, key := range p.Keys {
		pairs = append(pairs, key, item[key])
	}
	return fieldpath.KeyElementByFields(pairs...)
}

// at returns the place and the element that a path is about, if it is about one.
func (p Part) at(path fieldpath.Path) (Place, fieldpath.PathElement, bool) {
	for _, place := range p.Places {
		if len(path) > len(place.Path) && within(path, place.Path) {
			return place, path[len(place.Path)], true
		}
	}
	return Place{}, fieldpath.PathElement{}, false
}

func within(path fieldpath.Path, place []string) bool {
	for i, name := range place {
		if path[i].FieldName == nil || *path[i].FieldName != name {
			return false
		}
	}
	return true
}

// takes says whether an element of the creator's becomes the part's.
func (p Part) takes(place Place, element fieldpath.PathElement) bool {
	if element.FieldName != nil && slices.Contains(p.Fixed, *element.FieldName) {
		return false
	}
	return p.Takeover == TakeoverAll || p.says(place, element)
}

func (p Part) says(place Place, element fieldpath.PathElement) bool {
	for _, said := range p.said(place) {
		if said.Equals(element) {
			return true
		}
	}
	return false
}
