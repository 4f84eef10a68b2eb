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
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func labelsPart(labels map[string]any) Part {
	return Part{
		Manager: "part", Creator: "creator", Fixed: []string{"fixed"}, Takeover: TakeoverSaid,
		Fields: map[string]any{"metadata": map[string]any{"labels": labels}},
		Places: []Place{{Path: []string{"metadata", "labels"}}},
	}
}

func gatesPart(conditionTypes ...string) Part {
	gates := []any{}
	for _, conditionType := range conditionTypes {
		gates = append(gates, map[string]any{"conditionType": conditionType})
	}
	return Part{
		Manager: "part", Creator: "creator", Takeover: TakeoverAll,
		Fields: map[string]any{"spec": map[string]any{"gates": gates}},
		Places: []Place{{Path: []string{"spec", "gates"}, Keys: []string{"conditionType"}}},
	}
}

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestMet(t *testing.T) {
	object := func(labels map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": labels, "name": "n"}}
	}
	gates := map[string]any{"spec": map[string]any{"gates": []any{
		map[string]any{"conditionType": "B", "polarity": "Positive"}, map[string]any{"conditionType": "A"},
	}}}
	tests := map[string]struct {
		part   Part
		object map[string]any
		want   bool
	}{
		"all there":          {labelsPart(map[string]any{"a": "1"}), object(map[string]any{"a": "1"}), true},
		"more there":         {labelsPart(map[string]any{"a": "1"}), object(map[string]any{"a": "1", "b": "2"}), true},
		"another value":      {labelsPart(map[string]any{"a": "1"}), object(map[string]any{"a": "2"}), false},
		"missing":            {labelsPart(map[string]any{"a": "1"}), object(map[string]any{}), false},
		"no labels":          {labelsPart(map[string]any{"a": "1"}), map[string]any{}, false},
		"nothing said":       {labelsPart(map[string]any{}), map[string]any{"metadata": map[string]any{}}, false},
		"items in any order": {gatesPart("A", "B"), gates, true},
		"an item is missing": {gatesPart("A", "C"), gates, false},
		"no list":            {gatesPart("A"), map[string]any{"spec": map[string]any{}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(test.part.Met(test.object)).To(Equal(test.want)) })
	}
}

func TestHash(t *testing.T) {
	g := NewWithT(t)
	hash := func(part Part) uint64 {
		value, err := part.Hash()
		g.Expect(err).NotTo(HaveOccurred())
		return value
	}
	g.Expect(hash(labelsPart(map[string]any{"a": "1", "b": "2"}))).To(Equal(hash(labelsPart(map[string]any{"b": "2", "a": "1"}))))
	g.Expect(hash(labelsPart(map[string]any{"a": "1"}))).NotTo(Equal(hash(labelsPart(map[string]any{"a": "2"}))))
}

func TestStale(t *testing.T) {
	const two = `{"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}}}`
	const gates = `{"f:spec":{"f:gates":{"k:{\"conditionType\":\"A\"}":{".":{},"f:conditionType":{}},"k:{\"conditionType\":\"B\"}":{".":{},"f:conditionType":{}}},"f:other":{}}}`
	a := labelsPart(map[string]any{"a": "1"})
	tests := map[string]struct {
		part     Part
		managers []metav1.ManagedFieldsEntry
		want     bool
	}{
		"nothing managed":             {a, nil, false},
		"said before":                 {a, []metav1.ManagedFieldsEntry{entry("part", metav1.ManagedFieldsOperationApply, two)}, true},
		"said still":                  {labelsPart(map[string]any{"a": "1", "b": "2"}), []metav1.ManagedFieldsEntry{entry("part", metav1.ManagedFieldsOperationApply, two)}, false},
		"said by others":              {a, []metav1.ManagedFieldsEntry{entry("others", metav1.ManagedFieldsOperationApply, two)}, false},
		"said by the creator":         {a, []metav1.ManagedFieldsEntry{entry("creator", metav1.ManagedFieldsOperationUpdate, two)}, false},
		"the creator's items":         {gatesPart("A"), []metav1.ManagedFieldsEntry{entry("creator", metav1.ManagedFieldsOperationUpdate, gates)}, true},
		"the creator's items, wanted": {gatesPart("A", "B"), []metav1.ManagedFieldsEntry{entry("creator", metav1.ManagedFieldsOperationUpdate, gates)}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stale, err := test.part.Stale(test.managers)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stale).To(Equal(test.want))
		})
	}
	_, err := a.Stale([]metav1.ManagedFieldsEntry{entry("part", metav1.ManagedFieldsOperationApply, "nonsense")})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("reading the managed fields of part")))
}

func TestHandOver(t *testing.T) {
	g := NewWithT(t)
	created := entry("creator", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:annotations":{"f:own":{}},"f:labels":{"f:a":{},"f:fixed":{},"f:theirs":{}}},"f:spec":{}}`)
	part := labelsPart(map[string]any{"a": "1", "fixed": "2"})
	after, changed, err := part.HandOver([]metav1.ManagedFieldsEntry{created})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(BeTrue())
	g.Expect(after).To(HaveLen(2))
	g.Expect(after[0].FieldsV1.GetRawString()).To(MatchJSON(`{"f:metadata":{"f:annotations":{"f:own":{}},"f:labels":{"f:fixed":{},"f:theirs":{}}},"f:spec":{}}`))
	g.Expect(after[1].Manager).To(Equal("part"))
	g.Expect(after[1].Operation).To(Equal(metav1.ManagedFieldsOperationApply))
	g.Expect(after[1].FieldsV1.GetRawString()).To(MatchJSON(`{"f:metadata":{"f:labels":{"f:a":{}}}}`))

	_, changed, err = part.HandOver(after)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(BeFalse(), "it happens once")
	_, changed, err = part.HandOver([]metav1.ManagedFieldsEntry{entry("others", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:a":{}}}}`)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(BeFalse(), "nothing is taken from others")
}
