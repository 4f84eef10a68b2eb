// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
)

func TestRecord(t *testing.T) {
	kinds := Kinds{"Broken": corev1.EventTypeWarning, "Works": corev1.EventTypeNormal}
	works := metav1.Condition{Type: "A", Status: metav1.ConditionTrue, Reason: "Works"}
	broken := metav1.Condition{Type: "A", Status: metav1.ConditionFalse, Reason: "Broken", Message: "gone"}
	moreBroken := metav1.Condition{Type: "A", Status: metav1.ConditionFalse, Reason: "Broken", Message: "gone for longer"}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Broken"}
	alsoBroken := metav1.Condition{Type: "B", Status: metav1.ConditionFalse, Reason: "Broken", Message: "gone"}
	otherwiseBroken := metav1.Condition{Type: "B", Status: metav1.ConditionFalse, Reason: "Broken", Message: "no room"}
	alsoWorks := metav1.Condition{Type: "B", Status: metav1.ConditionTrue, Reason: "Works"}
	list := func(conditions ...metav1.Condition) []metav1.Condition { return conditions }
	for name, test := range map[string]struct {
		before, after []metav1.Condition
		want          []string
	}{
		"new":                        {nil, list(works), []string{"Normal Works A is True"}},
		"changed":                    {list(works), list(broken), []string{"Warning Broken gone"}},
		"another message only":       {list(broken), list(moreBroken), nil},
		"the same":                   {list(broken), list(broken), nil},
		"one error, told by several": {list(works, alsoWorks), list(broken, alsoBroken), []string{"Warning Broken gone"}},
		"one error, told before":     {list(broken, alsoWorks), list(broken, alsoBroken), nil},
		"two errors":                 {nil, list(broken, otherwiseBroken), []string{"Warning Broken gone", "Warning Broken no room"}},
		"two work":                   {nil, list(works, alsoWorks), []string{"Normal Works A is True", "Normal Works B is True"}},
		"Ready, which repeats":       {nil, list(ready), nil},
		"not worth an event":         {nil, []metav1.Condition{{Type: "A", Reason: "Waiting"}}, nil},
		"cut inside a character":     {nil, []metav1.Condition{{Type: "A", Reason: "Broken", Message: strings.Repeat("x", 1020) + "“quoted”"}}, []string{"Warning Broken " + strings.Repeat("x", 1020) + "..."}},
		"longer than they take":      {nil, []metav1.Condition{{Type: "A", Reason: "Broken", Message: strings.Repeat("x", 2000)}}, []string{"Warning Broken " + strings.Repeat("x", 1021) + "..."}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			recorder := events.NewFakeRecorder(2)
			Record(recorder, &corev1.Pod{}, kinds, test.before, test.after)
			close(recorder.Events)
			var got []string
			for event := range recorder.Events {
				got = append(got, event)
			}
			g.Expect(got).To(Equal(test.want))
		})
	}
}
