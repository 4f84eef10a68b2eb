// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// steps are snapshots of a cluster with one control plane node and two workers as it comes up.
func steps() []Snapshot {
	s := Snapshot{ControlPlaneReplicas: 1, WorkerReplicas: 2}
	var list []Snapshot
	step := func(change func(*Snapshot)) {
		s.Nodes = slices.Clone(s.Nodes)
		change(&s)
		list = append(list, s)
	}
	step(func(*Snapshot) {})
	step(func(s *Snapshot) { s.Endpoint, s.InfrastructureProvisioned = "10.77.0.2:6443", true })
	step(func(s *Snapshot) { s.Certificates, s.Kubeconfig = true, true })
	step(func(s *Snapshot) { s.First = Machine{Name: "cp", BootstrapData: true} })
	step(func(s *Snapshot) { s.First.Running, s.First.Address = true, "10.77.0.3" })
	step(func(s *Snapshot) { s.First.Bootstrapped, s.Initialized = true, true })
	step(func(s *Snapshot) { s.Nodes = []Node{{Name: "cp", ControlPlane: true}} })
	step(func(s *Snapshot) { s.Nodes[0].Ready = true })
	step(func(s *Snapshot) { s.Nodes = append(s.Nodes, Node{Name: "w1", Ready: true}, Node{Name: "w2"}) })
	step(func(s *Snapshot) { s.Nodes[2].Ready, s.Available = true, true })
	return list
}

func TestNextSaysWhatIsMissing(t *testing.T) {
	g := NewWithT(t)
	var waiting []string
	for _, snapshot := range steps() {
		next, missing := Next(snapshot)
		if missing {
			waiting = append(waiting, next.Waiting)
		}
	}
	g.Expect(waiting).To(Equal([]string{
		"the load balancer of the API server",
		"the certificates and the kubeconfig of the control plane",
		"the bootstrap data of the first control plane instance",
		"the first control plane instance to run",
		"kubeadm init on the first instance",
		"1 of 1 control plane nodes to become Ready",
		"1 of 1 control plane nodes to become Ready",
		"2 of 2 worker nodes to become Ready",
		"1 of 2 worker nodes to become Ready",
	}))
}

func TestTrackerTellsEachMilestoneOnce(t *testing.T) {
	g := NewWithT(t)
	var tracker Tracker
	var texts []string
	for number, snapshot := range steps() {
		after := time.Duration(number) * time.Second
		for _, reached := range tracker.Observe(snapshot, after) {
			g.Expect(reached.After).To(Equal(after))
			texts = append(texts, reached.Text)
		}
		g.Expect(tracker.Observe(snapshot, after+time.Millisecond)).To(BeEmpty(), "nothing changed")
	}
	g.Expect(texts).To(Equal([]string{
		"load balancer 10.77.0.2:6443",
		"certificates and kubeconfig",
		"bootstrap data of the first control plane instance",
		"first instance cp is running at 10.77.0.3",
		"kubeadm init has completed on the first instance",
		"control plane initialized",
		"control plane node cp Ready",
		"worker node w1 Ready",
		"worker node w2 Ready",
		"cluster available",
	}))
	g.Expect(tracker.Reached()).To(HaveLen(len(texts)))
}

func TestANodeThatIsNoLongerReadyIsWaitedForAgain(t *testing.T) {
	g := NewWithT(t)
	all := steps()
	last := all[len(all)-1]
	_, missing := Next(last)
	g.Expect(missing).To(BeFalse())
	last.Nodes = slices.Clone(last.Nodes)
	last.Nodes[1].Ready = false
	next, missing := Next(last)
	g.Expect(missing).To(BeTrue())
	g.Expect(next.Waiting).To(Equal("1 of 2 worker nodes to become Ready"))
}

func TestMoreNodesThanWantedAreNoProblem(t *testing.T) {
	g := NewWithT(t)
	all := steps()
	last := all[len(all)-1]
	last.WorkerReplicas = 1
	_, missing := Next(last)
	g.Expect(missing).To(BeFalse())
}
