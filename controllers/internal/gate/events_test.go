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

package gate

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestBesidesStatus(t *testing.T) {
	for name, test := range map[string]struct {
		change func(pod *corev1.Pod)
		want   bool
	}{
		"status":      {func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }, false},
		"generation":  {func(pod *corev1.Pod) { pod.Generation++ }, true},
		"labels":      {func(pod *corev1.Pod) { pod.Labels = map[string]string{"a": "b"} }, true},
		"annotations": {func(pod *corev1.Pod) { pod.Annotations = map[string]string{"a": "b"} }, true},
		"finalizers":  {func(pod *corev1.Pod) { pod.Finalizers = []string{"a"} }, true},
		"owners":      {func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{{Name: "a"}} }, true},
		"resync":      {func(pod *corev1.Pod) { pod.ResourceVersion = "1" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: 1, ResourceVersion: "1"}}
			after := before.DeepCopy()
			after.ResourceVersion = "2"
			test.change(after)
			g.Expect(BesidesStatus().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(test.want))
		})
	}
}
