// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// maxNote is the longest note of an event that the API server accepts, in bytes.
const maxNote = 1024

// Kinds maps the condition reasons that are worth an event to the event's type, Normal or Warning.
type Kinds map[string]string

// Record emits an event for each condition, except Ready, whose status or reason changed to one
// that is worth an event. Conditions with the same reason and message, such as those about one
// cloud error, share one event. The action of the event is the type of the condition.
func Record(recorder events.EventRecorder, object runtime.Object, kinds Kinds, before, after []metav1.Condition) {
	said := slices.Clone(before)
	for _, condition := range after {
		kind, worth := kinds[condition.Reason]
		if !worth || condition.Type == clusterv1.ReadyCondition || !isNews(condition, before, said) {
			continue
		}
		said = append(said, condition)
		recorder.Eventf(object, nil, kind, condition.Reason, condition.Type, "%s", Note(note(condition)))
	}
}

// isNews reports whether a condition's status or reason changed, and no condition in said has the
// same reason and message.
func isNews(condition metav1.Condition, before, said []metav1.Condition) bool {
	unchanged := slices.ContainsFunc(before, func(c metav1.Condition) bool {
		return c.Type == condition.Type && c.Status == condition.Status && c.Reason == condition.Reason
	})
	return !unchanged && !slices.ContainsFunc(said, func(c metav1.Condition) bool {
		return c.Type != clusterv1.ReadyCondition && c.Reason == condition.Reason && note(c) == note(condition)
	})
}

func note(condition metav1.Condition) string {
	if condition.Message == "" {
		return condition.Type + " is " + string(condition.Status)
	}
	return condition.Message
}

// Note returns the text, cut to what the API server accepts as the note of an event.
func Note(text string) string {
	if len(text) <= maxNote {
		return text
	}
	// Without a character that was cut in two.
	return strings.ToValidUTF8(text[:maxNote-3], "") + "..."
}
