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

// Package conditionevents tells of changed conditions as Kubernetes events, so that an event always says what a
// condition says, once per change, after the condition was written.
//
// Limits: it tells of conditions only; what is worth an event and of which type is for the caller to say.
package conditionevents

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// maxNote is the length of an event's note that the API server accepts.
const maxNote = 1024

// Kinds says which reasons of a condition are worth an event: from reason to event type, Normal or Warning.
type Kinds map[string]string

// Record tells of each condition, besides Ready, which repeats others, that has another status or reason than before, and a reason that is worth an event.
// The action of the event is the type of the condition.
func Record(recorder events.EventRecorder, object runtime.Object, kinds Kinds, before, after []metav1.Condition) {
	for _, condition := range after {
		kind, worth := kinds[condition.Reason]
		if !worth || condition.Type == clusterv1.ReadyCondition || unchanged(meta.FindStatusCondition(before, condition.Type), condition) {
			continue
		}
		note := condition.Message
		if note == "" {
			note = condition.Type + " is " + string(condition.Status)
		}
		recorder.Eventf(object, nil, kind, condition.Reason, condition.Type, "%s", truncate(note))
	}
}

func unchanged(before *metav1.Condition, after metav1.Condition) bool {
	return before != nil && before.Status == after.Status && before.Reason == after.Reason
}

func truncate(note string) string {
	if len(note) <= maxNote {
		return note
	}
	return note[:maxNote-3] + "..."
}
