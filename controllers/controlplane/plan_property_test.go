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
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// world is a control plane as it could be, in which plans are carried out and things happen.
type world struct {
	machines    []*worldMachine
	desired     int
	initialized bool
	clusterKnow bool
	endpoint    bool
	blind       bool
	created     int
	members     map[string]uint64
	nextMember  uint64
}

type worldMachine struct {
	name     string
	joined   bool
	failed   bool
	deleting bool
	hooked   bool
	drained  bool
}

func (w *world) state() state {
	s := state{
		Desired: w.desired, Version: testVersion, EtcdManaged: true,
		PlacementKnown: w.endpoint, Initialized: w.initialized, ClusterInitialized: w.clusterKnow,
	}
	if !w.endpoint {
		s.FoundationProblem = problem{Reason: reasonWaitingForInfrastructure, Message: "no endpoint"}
	}
	if w.blind || !w.initialized {
		s.WorkloadProblem = "no answer"
	}
	for _, machine := range w.machines {
		s.Machines = append(s.Machines, w.machineState(machine))
		if id, ok := w.members[machine.name]; ok && s.WorkloadProblem == "" {
			s.Etcd.Members = append(s.Etcd.Members, workload.Member{ID: id, Name: machine.name})
			if s.Etcd.Leader == 0 {
				s.Etcd.Leader = id
			}
		}
		if s.Surplus == "" && !machine.deleting {
			s.Surplus = machine.name
		}
	}
	return s
}

func (w *world) machineState(machine *worldMachine) machineState {
	result := machineState{
		Name: machine.name, Version: testVersion, Deleting: machine.deleting, Hooked: machine.hooked,
		AtHook: machine.deleting && machine.drained,
	}
	if machine.joined {
		result.Node = machine.name
	}
	if machine.failed || !machine.joined || w.blind {
		result.Unhealthy = []string{"not healthy"}
	}
	return result
}

func (w *world) find(name string) *worldMachine {
	index := slices.IndexFunc(w.machines, func(machine *worldMachine) bool { return machine.name == name })
	if index < 0 {
		return nil
	}
	return w.machines[index]
}

// failing is what a plan must never do; it is checked before the plan is carried out.
func (w *world) failing(next decision) string {
	changed := slices.ContainsFunc(w.machines, func(machine *worldMachine) bool {
		return machine.deleting || machine.failed || !machine.joined
	})
	switch next.Action {
	case actionInitialize:
		if len(w.machines) > 0 || w.initialized {
			return "a second control plane would be initialized"
		}
	case actionScaleUp:
		if !w.initialized || !w.clusterKnow || changed || w.blind || len(w.machines) >= w.desired {
			return "scaled up while something else was going on"
		}
	case actionScaleDown:
		if changed || w.blind || len(w.machines) <= w.desired {
			return "scaled down while something else was going on"
		}
	case actionRelease:
		return w.failingRelease(next)
	case actionNone, actionWait:
	default:
		return fmt.Sprintf("unexpected action %s", next.Action)
	}
	return ""
}

func (w *world) failingRelease(next decision) string {
	released := slices.ContainsFunc(w.machines, func(machine *worldMachine) bool { return machine.deleting && !machine.hooked })
	if released {
		return "two Machines released at once"
	}
	id, member := w.members[next.Machine]
	if !member || len(w.machines) == 1 {
		return ""
	}
	if next.Etcd.Remove.ID != id {
		return "a Machine is released while its member stays in etcd"
	}
	voters, healthy := 0, 0
	for _, machine := range w.machines {
		if _, ok := w.members[machine.name]; !ok || machine.name == next.Machine {
			continue
		}
		voters++
		if !machine.failed {
			healthy++
		}
	}
	if healthy < voters/2+1 {
		return fmt.Sprintf("etcd loses quorum: %d of %d voters are healthy", healthy, voters)
	}
	return ""
}

func (w *world) carryOut(next decision) {
	switch next.Action {
	case actionInitialize, actionScaleUp:
		w.created++
		w.machines = append(w.machines, &worldMachine{name: fmt.Sprintf("m%d", w.created), hooked: true})
	case actionScaleDown:
		w.find(next.Machine).deleting = true
	case actionRelease:
		if next.Etcd.Remove.ID != 0 {
			delete(w.members, next.Machine)
		}
		w.find(next.Machine).hooked = false
	default:
	}
}

// progress lets everybody else do their part: Machines join, are drained and go, and the Cluster hears of it.
func (w *world) progress() {
	w.endpoint = true
	for _, machine := range w.machines {
		switch {
		case machine.deleting:
			machine.drained = true
		case !machine.joined:
			machine.joined = true
			w.nextMember++
			w.members[machine.name] = w.nextMember
			w.initialized = true
		}
	}
	w.machines = slices.DeleteFunc(w.machines, func(machine *worldMachine) bool { return machine.deleting && !machine.hooked })
	w.clusterKnow = w.initialized
}

func (w *world) heal() {
	w.blind = false
	for _, machine := range w.machines {
		machine.failed = false
	}
}

// userDeletes deletes a Machine, but never the last one that stays: nothing could bring that control plane back.
func (w *world) userDeletes(t *rapid.T) {
	var staying []*worldMachine
	for _, machine := range w.machines {
		if !machine.deleting && machine.joined {
			staying = append(staying, machine)
		}
	}
	if len(staying) > 1 {
		rapid.SampledFrom(staying).Draw(t, "deleted").deleting = true
	}
}

func (w *world) fails(t *rapid.T) {
	if len(w.machines) > 0 {
		rapid.SampledFrom(w.machines).Draw(t, "failed").failed = true
	}
}

func TestPlanIsSafeAndConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{members: map[string]uint64{}, desired: rapid.SampledFrom([]int{1, 3, 5}).Draw(t, "desired")}
		step := func() decision {
			next := plan(w.state())
			if problem := w.failing(next); problem != "" {
				t.Fatalf("%s: %+v in %+v", problem, next, w.state())
			}
			w.carryOut(next)
			return next
		}
		t.Repeat(map[string]func(*rapid.T){
			"plan":     func(*rapid.T) { step() },
			"progress": func(*rapid.T) { w.progress() },
			"heal":     func(*rapid.T) { w.heal() },
			"blind":    func(*rapid.T) { w.blind = true },
			"fail":     w.fails,
			"delete":   w.userDeletes,
			"scale":    func(t *rapid.T) { w.desired = rapid.SampledFrom([]int{1, 3, 5}).Draw(t, "desired") },
		})
		// A Machine takes at most a step to be planned, one to join or to be drained, one to be released and one to go.
		for range 4 * 12 {
			w.heal()
			w.progress()
			if step().Action == actionNone {
				break
			}
		}
		w.heal()
		if next := plan(w.state()); next.Action != actionNone || len(w.machines) != w.desired {
			t.Fatalf("does not converge: %+v in %+v", next, w.state())
		}
	})
}
