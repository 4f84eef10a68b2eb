// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
)

// newState returns a state in which everything exists except the instance.
func newState(changes ...func(s *state)) *state {
	s := &state{
		fooMachine: &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m1"}},
		machine: &clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m1"},
			Spec: clusterv1.MachineSpec{
				ClusterName: "one", Version: "v1.36.3", FailureDomain: "zone-b",
				Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To("m1-data")},
			},
		},
		cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "one"}},
	}
	s.cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	for _, change := range changes {
		change(s)
	}
	return s
}

func running(s *state) {
	s.instance = &cloud.Instance{
		ID: "i1", State: cloud.InstanceRunning, Address: "192.0.2.1", Bootstrap: cloud.Bootstrap{State: cloud.BootstrapRunning},
	}
}

func inState(as cloud.InstanceState) func(s *state) {
	return func(s *state) { running(s); s.instance.State, s.instance.Message = as, "why" }
}

func noticed(s *state) {
	running(s)
	at := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	s.instance.ReclaimAt = &at
}

func lost(s *state) { s.lost = true; s.fooMachine.Spec.ProviderID = "foo:///zone-b/i1" }

func deleting(s *state) { now := metav1.Now(); s.fooMachine.DeletionTimestamp = &now }

func unavailable(s *state) { s.fault = cloudfault.Of(&cloud.UnavailableError{Message: "down"}) }

func noBootstrapData(s *state) { s.machine.Spec.Bootstrap.DataSecretName = nil }

func controlPlane(s *state) {
	s.machine.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
}

func draining(s *state) { s.instance.Draining = true }

func machineDeleting(s *state) { now := metav1.Now(); s.machine.DeletionTimestamp = &now }

func ofPool(s *state) {
	s.fooMachine.Labels = map[string]string{clusterv1.MachinePoolNameLabel: "pool"}
	s.machine = nil
}

// reported returns the outcome of a reconcile that changes nothing.
func reported(s *state) outcome { return outcome{knowledge: s.knowledge, wait: decide(s).wait} }

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		state *state
		want  action
		wait  string
	}{
		"create":                          {newState(), createInstance, ""},
		"observe":                         {newState(running), keep, ""},
		"never again what is lost":        {newState(lost), keep, ""},
		"wait for infrastructure":         {newState(func(s *state) { s.cluster.Status = clusterv1.ClusterStatus{} }), hold, infrav1.FooMachineWaitingForClusterInfrastructureReason},
		"wait for the control plane":      {newState(noBootstrapData), hold, infrav1.FooMachineWaitingForControlPlaneReason},
		"wait for bootstrap data":         {newState(noBootstrapData, controlPlane), hold, infrav1.FooMachineWaitingForBootstrapDataReason},
		"wait for the pool":               {newState(ofPool), hold, infrav1.FooMachineWaitingForPoolReason},
		"nothing of what cannot be asked": {newState(unavailable), keep, ""},
		"delete":                          {newState(running, deleting), deleteInstance, ""},
		"drain before the Machine goes":   {newState(running, controlPlane, machineDeleting), drainInstance, ""},
		"drain once":                      {newState(running, draining, controlPlane, machineDeleting), keep, ""},
		"drain no worker":                 {newState(running, machineDeleting), keep, ""},
		"drain nothing that stopped":      {newState(inState(cloud.InstanceStopped), controlPlane, machineDeleting), keep, ""},
		"drain nothing that is lost":      {newState(lost, controlPlane, machineDeleting), keep, ""},
		"delete instead of draining":      {newState(running, controlPlane, machineDeleting, deleting), deleteInstance, ""},
		"release what has none":           {newState(deleting), release, ""},
		"release what is lost":            {newState(lost, deleting), release, ""},
		"keep what cannot be asked":       {newState(unavailable, deleting), keep, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := decide(test.state)
			g.Expect(p.action).To(Equal(test.want))
			g.Expect(p.wait.reason).To(Equal(test.wait))
		})
	}
}

// The zone is the Machine's failure domain.
func TestInstanceSpec(t *testing.T) {
	g := NewWithT(t)
	p := decide(newState(controlPlane))
	g.Expect(p.instance).To(Equal(cloud.InstanceSpec{
		Name: "ns.m1", Hostname: "m1", Zone: "zone-b",
		InstanceTemplate: cloud.InstanceTemplate{
			Type: infrav1.DefaultInstanceType, KubernetesVersion: "v1.36.3",
			Tags: cloud.Tags{
				"cluster.x-k8s.io/cluster": "ns/one", "cluster.x-k8s.io/role": "control-plane",
				"infrastructure.cluster.x-k8s.io/kind":      "FooMachine",
				"infrastructure.cluster.x-k8s.io/namespace": "ns", "infrastructure.cluster.x-k8s.io/name": "m1",
			},
		},
	}))
	g.Expect(p.secret.String()).To(Equal("ns/m1-data"))
}

func TestInstanceSpecHasWhatTheFooMachineAsksFor(t *testing.T) {
	g := NewWithT(t)
	spec := decide(newState(func(s *state) {
		s.fooMachine.Spec = infrav1.FooMachineSpec{
			InstanceType: "large", Image: "gpu", RootDisk: infrav1.RootDisk{SizeGiB: 40},
			AdditionalTags: map[string]string{"team": "red"}, Interruptible: ptr.To(true),
		}
		s.clusterTags = map[string]string{"team": "blue", "cost": "7"}
	})).instance
	g.Expect([]any{spec.Type, spec.Image, spec.DiskBytes, spec.Interruptible}).To(Equal([]any{"large", "gpu", int64(40 << 30), true}))
	g.Expect(spec.Tags).To(And(HaveKeyWithValue("team", "red"), HaveKeyWithValue("cost", "7"), HaveKeyWithValue("infrastructure.cluster.x-k8s.io/name", "m1")))
}

// Machines without a failure domain are spread over the cluster's failure domains for their role.
func TestZonesOfAMachineWithoutFailureDomain(t *testing.T) {
	domains := func(s *state) {
		s.machine.Spec.FailureDomain = ""
		s.cluster.Status.FailureDomains = []clusterv1.FailureDomain{{Name: "zone-a", ControlPlane: ptr.To(true)}, {Name: "zone-c", ControlPlane: ptr.To(false)}}
	}
	for name, test := range map[string]struct {
		state *state
		zones []string
		role  string
	}{
		"a worker":        {newState(domains), []string{"zone-a", "zone-c"}, "worker"},
		"a control plane": {newState(domains, controlPlane), []string{"zone-a"}, "control-plane"},
		"no domains":      {newState(func(s *state) { s.machine.Spec.FailureDomain = "" }), nil, "worker"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			spec := decide(test.state).instance
			g.Expect(spec.Zone).To(BeEmpty())
			g.Expect(spec.Zones).To(Equal(test.zones))
			g.Expect(spec.Spread).To(Equal(cloud.Tags{"cluster.x-k8s.io/cluster": "ns/one", "cluster.x-k8s.io/role": test.role}))
		})
	}
}

func TestReady(t *testing.T) {
	failed := func(s *state) {
		running(s)
		s.instance.Bootstrap = cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "exit 1"}
	}
	for name, test := range map[string]struct {
		state   *state
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"running": {newState(running), metav1.ConditionTrue, infrav1.FooMachineReadyReason, ""},
		"pending": {newState(inState(cloud.InstancePending)), metav1.ConditionFalse, infrav1.FooMachineInstancePendingReason, "why"},
		"no room": {newState(inState(cloud.InstancePending), func(s *state) {
			s.instance.Problem = &cloud.Problem{Reason: cloud.ReasonOutOfCapacity, Message: "zone a is full"}
		}), metav1.ConditionFalse, infrav1.CloudOutOfCapacityReason, "zone a is full"},
		"stopped":    {newState(inState(cloud.InstanceStopped)), metav1.ConditionFalse, infrav1.FooMachineInstanceStoppedReason, "why"},
		"failed":     {newState(inState(cloud.InstanceFailed)), metav1.ConditionFalse, infrav1.FooMachineInstanceFailedReason, "why"},
		"deleting":   {newState(inState(cloud.InstanceDeleting)), metav1.ConditionFalse, infrav1.FooMachineInstanceDeletingReason, "why"},
		"no address": {newState(running, func(s *state) { s.instance.Address = "" }), metav1.ConditionFalse, infrav1.FooMachineInstancePendingReason, "The instance has no address yet"},
		"bootstrap":  {newState(failed), metav1.ConditionFalse, infrav1.FooMachineBootstrapFailedReason, "exit 1"},
		"lost":       {newState(lost), metav1.ConditionFalse, infrav1.FooMachineInstanceNotFoundReason, "The cloud no longer has the instance foo:///zone-b/i1; it will not be recreated"},
		"taken away": {newState(lost, machineDeleting), metav1.ConditionFalse, infrav1.FooMachineInstanceDeletingReason, ""},
		"noticed":    {newState(running, noticed), metav1.ConditionFalse, infrav1.FooMachineReclaimNoticeReason, "The cloud will reclaim the instance at 2026-01-01T00:00:00Z"},
		"deleted":    {newState(running, deleting), metav1.ConditionFalse, infrav1.FooMachineDeletingReason, ""},
		"no cloud":   {newState(unavailable), metav1.ConditionFalse, infrav1.CloudUnavailableReason, "cloud unavailable: down"},
		"no cloud, but perhaps an instance": {newState(unavailable, func(s *state) {
			s.fooMachine.Spec.ProviderID = "foo:///zone-b/i1"
		}), metav1.ConditionUnknown, infrav1.CloudUnavailableReason, "cloud unavailable: down"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			setStatus(test.state, reported(test.state))
			c := conditions.Get(test.state.fooMachine, infrav1.FooMachineReadyCondition)
			g.Expect(c.Status).To(Equal(test.status))
			g.Expect(c.Reason).To(Equal(test.reason))
			g.Expect(c.Message).To(Equal(test.message))
		})
	}
}

// All conditions are set whatever happens, and provisioned is never taken back.
func TestStatusProperties(t *testing.T) {
	changes := []func(s *state){
		running, lost, noticed, unavailable, deleting, ofPool, noBootstrapData,
		inState(cloud.InstancePending), inState(cloud.InstanceStopped), inState(cloud.InstanceFailed),
	}
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		s := newState()
		provisioned := false
		for range rapid.IntRange(1, 5).Draw(t, "reconciles") {
			s.machine, s.knowledge = newState().machine, knowledge{}
			rapid.SampledFrom(changes).Draw(t, "change")(s)
			setStatus(s, reported(s))
			for _, kind := range ownedConditions {
				g.Expect(conditions.Has(s.fooMachine, kind)).To(BeTrue(), kind)
			}
			now := ptr.Deref(s.fooMachine.Status.Initialization.Provisioned, false)
			g.Expect(provisioned && !now).To(BeFalse(), "provisioned was taken back")
			provisioned = now
		}
	})
}
