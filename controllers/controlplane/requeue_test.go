// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func TestWhenToLookAgain(t *testing.T) {
	now := time.Now()
	joins := plan.Machine{Name: "new", Unhealthy: []string{"it has no Node yet"}}
	fine := plan.Machine{Name: "old", Node: "old"}
	watched := func(s *scope) { s.watching = true }
	deleted := func(s *scope) { s.controlPlane.DeletionTimestamp = &metav1.Time{Time: now} }
	for name, test := range map[string]struct {
		change   func(s *scope)
		machines []plan.Machine
		reason   string
		want     time.Duration
	}{
		"settled":                              {func(*scope) {}, []plan.Machine{fine}, plan.ReasonSettled, 0},
		"a Machine joins, watched":             {watched, []plan.Machine{fine, joins}, plan.ReasonMachinesNotHealthy, watchedInterval},
		"a Machine is being deleted, watched":  {watched, []plan.Machine{fine, joins}, plan.ReasonWaitingForMachineDeletion, watchedInterval},
		"etcd is awaited, not watched":         {watched, []plan.Machine{fine, joins}, plan.ReasonQuorumAtRisk, unsettledInterval},
		"a Machine joins, not watched":         {func(*scope) {}, []plan.Machine{fine, joins}, plan.ReasonMachinesNotHealthy, unsettledInterval},
		"the workload cluster is not observed": {func(s *scope) { s.watching, s.observation = true, nil }, []plan.Machine{joins}, plan.ReasonWorkloadUnknown, unsettledInterval},
		"the template is missing":              {func(s *scope) { s.template = nil }, []plan.Machine{fine}, plan.ReasonSettled, unsettledInterval},
		"the control plane is being deleted":   {deleted, []plan.Machine{joins}, "", 0},
		"its Cluster is gone as well":          {func(s *scope) { deleted(s); s.cluster.UID = "" }, []plan.Machine{joins}, "", watchedInterval},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scope{
				now: now, controlPlane: &controlplanev1.FooControlPlane{}, cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "cluster"}}, initialized: true, observation: &workload.Observation{},
				template: &unstructured.Unstructured{}, prerequisites: prerequisites{},
			}
			test.change(s)
			NewWithT(t).Expect(s.requeue(outcome{state: plan.State{Machines: test.machines}, next: plan.Decision{Reason: test.reason}}).RequeueAfter).To(Equal(test.want))
		})
	}
}
