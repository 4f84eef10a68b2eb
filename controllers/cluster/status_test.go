// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

func TestKubeconfigWait(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		missing bool
		after   time.Duration
		want    time.Duration
	}{
		"the kubeconfig is there": {after: kubeconfigGrace / 2},
		"just missing":            {missing: true, want: kubeconfigGrace},
		"missing for a while":     {missing: true, after: kubeconfigGrace / 2, want: kubeconfigGrace / 2},
		"missing for too long":    {missing: true, after: 2 * kubeconfigGrace},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			remembered := &missing{}
			s := &state{fooCluster: &infrav1.FooCluster{}, now: since.Add(test.after)}
			if test.missing {
				remembered.since("u1", since)
				s.kubeconfigMissing = remembered.since("u1", s.now)
			}
			g.Expect(kubeconfigWait(s)).To(Equal(test.want))
			remembered.forget("u1")
			g.Expect(remembered.since("u1", s.now)).To(Equal(s.now))
		})
	}
}

// The message names what the FooCluster waits for. It has no count, which would change with each
// deleted machine.
func TestDeletingNamesWhatIsWaitedFor(t *testing.T) {
	for message, users := range map[string][]string{
		"Waiting for the load balancer to be deleted":                                      nil,
		"Waiting for FooMachine m1 to be deleted":                                          {"FooMachine m1"},
		"Waiting for FooMachine m1, FooMachine m2, FooMachine m3 and others to be deleted": {"FooMachine m1", "FooMachine m2", "FooMachine m3", "FooMachine m4"},
	} {
		t.Run(message, func(t *testing.T) {
			g := NewWithT(t)
			s := newState(deleting, func(s *state) { s.users = users })
			setStatus(s, decide(s), outcome{})
			condition := conditions.Get(s.fooCluster, infrav1.DeletingCondition)
			g.Expect(condition.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(condition.Message).To(Equal(message))
			g.Expect(conditions.GetMessage(s.fooCluster, infrav1.FooClusterReadyCondition)).To(Equal(message))
		})
	}
}
