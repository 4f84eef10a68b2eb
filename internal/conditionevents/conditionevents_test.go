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

package conditionevents

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
	for name, test := range map[string]struct {
		before, after []metav1.Condition
		want          string
	}{
		"new":                   {nil, []metav1.Condition{works}, "Normal Works A is True"},
		"changed":               {[]metav1.Condition{works}, []metav1.Condition{broken}, "Warning Broken gone"},
		"another message only":  {[]metav1.Condition{broken}, []metav1.Condition{moreBroken}, ""},
		"the same":              {[]metav1.Condition{broken}, []metav1.Condition{broken}, ""},
		"Ready, which repeats":  {nil, []metav1.Condition{ready}, ""},
		"not worth an event":    {nil, []metav1.Condition{{Type: "A", Reason: "Waiting"}}, ""},
		"longer than they take": {nil, []metav1.Condition{{Type: "A", Reason: "Broken", Message: strings.Repeat("x", 2000)}}, "Warning Broken " + strings.Repeat("x", 1021) + "..."},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			recorder := events.NewFakeRecorder(1)
			Record(recorder, &corev1.Pod{}, kinds, test.before, test.after)
			if test.want == "" {
				g.Expect(recorder.Events).To(BeEmpty())
				return
			}
			g.Expect(recorder.Events).To(Receive(Equal(test.want)))
		})
	}
}
