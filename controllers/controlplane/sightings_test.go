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

package controlplane

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

func TestLastSighting(t *testing.T) {
	g := NewWithT(t)
	start := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	lost := errors.New("no answer")
	seen := newSightings()
	g.Expect(seen.last("one", start, lost)).To(Equal(start), "one that was never seen has its grace from its first failure on")
	g.Expect(seen.last("one", start.Add(time.Minute), lost)).To(Equal(start))
	g.Expect(seen.last("one", start.Add(2*time.Minute), nil)).To(Equal(start.Add(2*time.Minute)), "it is seen")
	g.Expect(seen.last("one", start.Add(4*time.Minute), lost)).To(Equal(start.Add(2 * time.Minute)))
	g.Expect(seen.last("another", start.Add(4*time.Minute), lost)).To(Equal(start.Add(4 * time.Minute)))
}

// What is shown of a control plane whose workload cluster is out of reach for a while.
func TestConditionsOfWhatIsOutOfReach(t *testing.T) {
	now := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	ofControlPlane := []string{
		controlplanev1.AvailableCondition, controlplanev1.EtcdClusterHealthyCondition, controlplanev1.ControlPlaneComponentsHealthyCondition,
	}
	ofMachine := []string{
		controlplanev1.MachineAPIServerPodHealthyCondition, controlplanev1.MachineControllerManagerPodHealthyCondition,
		controlplanev1.MachineSchedulerPodHealthyCondition, controlplanev1.MachineEtcdPodHealthyCondition,
		controlplanev1.MachineEtcdMemberHealthyCondition,
	}
	healthy := func(types []string) []metav1.Condition {
		list := make([]metav1.Condition, 0, len(types))
		for _, conditionType := range types {
			list = append(list, metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: "Healthy", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))})
		}
		return list
	}
	tests := map[string]struct {
		since time.Duration
		want  metav1.ConditionStatus
	}{
		"not long":     {since: 4*time.Minute + 59*time.Second, want: metav1.ConditionTrue},
		"five minutes": {since: 5 * time.Minute, want: metav1.ConditionUnknown},
		"an hour":      {since: time.Hour, want: metav1.ConditionUnknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: clusterv1.MachineStatus{Conditions: healthy(ofMachine)}}
			s := &scope{
				now: now, lastSeen: now.Add(-test.since), initialized: true, workloadProblem: "the workload cluster can not be observed: no answer",
				cluster:  &clusterv1.Cluster{},
				machines: []*clusterv1.Machine{machine},
				controlPlane: &controlplanev1.FooControlPlane{
					Spec:   controlplanev1.FooControlPlaneSpec{Replicas: ptr.To[int32](1), Version: "v1.36.3"},
					Status: controlplanev1.FooControlPlaneStatus{Conditions: healthy(ofControlPlane)},
				},
			}
			seen := s.state()
			next := plan(seen)
			g.Expect(next.Action).To(Equal(actionWait), "health is unknown")
			s.setStatus(outcome{state: seen, next: next})
			for _, conditionType := range ofControlPlane {
				g.Expect(conditions.Get(s.controlPlane, conditionType)).To(HaveField("Status", test.want), conditionType)
			}
			for _, conditionType := range ofMachine {
				shown, blind := s.blind(machine, metav1.Condition{Type: conditionType})
				g.Expect(blind).To(BeTrue())
				g.Expect(shown.Status).To(Equal(test.want), conditionType)
			}
			if test.want == metav1.ConditionUnknown {
				g.Expect(conditions.Get(s.controlPlane, controlplanev1.EtcdClusterHealthyCondition).Message).To(ContainSubstring("no answer"))
			}
		})
	}
}
