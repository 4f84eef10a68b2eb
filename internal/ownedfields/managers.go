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
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Stale says whether the object has something at the part's places that the part, or the creator for it, once said and the
// part says no more. It needs the object's managed fields.
func (p Part) Stale(managers []metav1.ManagedFieldsEntry) (bool, error) {
	_, own, err := find(managers, p.own())
	if err != nil {
		return false, err
	}
	if p.Takeover == TakeoverAll {
		_, created, err := find(managers, p.created())
		if err != nil {
			return false, err
		}
		own = own.Union(created)
	}
	stale := false
	own.Iterate(func(path fieldpath.Path) {
		place, element, ok := p.at(path)
		stale = stale || ok && !p.says(place, element)
	})
	return stale, nil
}

// HandOver returns the managed fields after the creator has handed the part's elements over to the part's own manager, and
// whether that changes anything.
func (p Part) HandOver(managers []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error) {
	creator, created, err := find(managers, p.created())
	if err != nil || creator < 0 {
		return managers, false, err
	}
	moved := fieldpath.NewSet()
	created.Iterate(func(path fieldpath.Path) {
		place, element, ok := p.at(path)
		if ok && p.takes(place, element) {
			moved.Insert(path.Copy())
		}
	})
	if moved.Empty() {
		return managers, false, nil
	}
	own, mine, err := find(managers, p.own())
	if err != nil {
		return managers, false, err
	}
	result := slices.Clone(managers)
	if own < 0 {
		result = append(result, metav1.ManagedFieldsEntry{
			Manager: p.Manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
			APIVersion: managers[creator].APIVersion, Time: managers[creator].Time,
		})
		own = len(result) - 1
	}
	if result[own].FieldsV1, err = encode(mine.Union(moved)); err != nil {
		return managers, false, err
	}
	if result[creator].FieldsV1, err = encode(created.Difference(moved)); err != nil {
		return managers, false, err
	}
	return result, true, nil
}

// who is a field manager with the kind of its writes.
type who struct {
	manager   string
	operation metav1.ManagedFieldsOperationType
}

func (p Part) own() who {
	return who{manager: p.Manager, operation: metav1.ManagedFieldsOperationApply}
}

func (p Part) created() who {
	return who{manager: p.Creator, operation: metav1.ManagedFieldsOperationUpdate}
}

// find returns the index of a manager's entry with its fields, or -1 and no fields.
func find(managers []metav1.ManagedFieldsEntry, wanted who) (int, *fieldpath.Set, error) {
	fields := fieldpath.NewSet()
	index := slices.IndexFunc(managers, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == wanted.manager && entry.Operation == wanted.operation && entry.Subresource == ""
	})
	if index < 0 || managers[index].FieldsV1 == nil {
		return index, fields, nil
	}
	if err := fields.FromJSON(managers[index].FieldsV1.GetRawReader()); err != nil {
		return index, fields, fmt.Errorf("reading the managed fields of %s: %w", wanted.manager, err)
	}
	return index, fields, nil
}

func encode(fields *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := fields.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding managed fields: %w", err)
	}
	return metav1.NewFieldsV1(string(raw)), nil
}
