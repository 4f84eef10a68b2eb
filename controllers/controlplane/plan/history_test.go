// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// never is a number of effects that no decision reaches, so the controller does not crash.
const never = 100

// failing says how a plan violates safety; empty if it does not. It compares the plan with the true
// state of the world before the plan is carried out.
func (w *world) failing(next Decision) string {
	others := func(is func(*worldMachine) bool) bool {
		return slices.ContainsFunc(w.machines, func(m *worldMachine) bool { return m.name != next.Machine && is(m) })
	}
	deleting := func(m *worldMachine) bool { return m.deleting }
	wrong := func(m *worldMachine) bool { return m.broken() || m.stage != joined }
	known := !w.blind && w.answers()
	switch next.Action {
	case ActionInitialize:
		if len(w.machines) > 0 || w.known {
			return "a second control plane would be initialized"
		}
	case ActionCreate:
		return w.failingCreate(known, others)
	case ActionDelete:
		victim := w.find(next.Machine)
		if !w.known && len(w.machines) == 1 && victim.stage == starting && w.machineState(victim, true).Outdated != nil {
			return ""
		}
		if !known || others(deleting) {
			return "deletes while another Machine is being deleted or health is unknown"
		}
		if victim.stage == joined && others(wrong) {
			return "deletes a joined Machine while another one is unhealthy"
		}
		if !others(func(m *worldMachine) bool { return m.stage == joined }) {
			return "deletes the last Machine"
		}
		if next.Reason == reasonRollingOut && len(w.machines) < w.desired+w.surge && victim.brokenFor < brokenGrace {
			return "a rollout deletes a Machine that may recover before its replacement exists"
		}
	case ActionRemediate:
		if others(func(m *worldMachine) bool { return m.deleting && (!m.hooked || !m.drained) }) {
			return "remediates while another Machine is being deleted"
		}
		if (w.known || w.find(next.Machine).nodeRef) && (!known || !others(func(m *worldMachine) bool { return !wrong(m) && !m.deleting })) {
			return "remediates without another Machine that works"
		}
	case ActionRelease, ActionRemoveMember:
		return w.failingRemoval(next)
	case ActionNone, ActionWait:
	default:
		return fmt.Sprintf("unexpected action %s", next.Action)
	}
	return ""
}

func (w *world) failingCreate(known bool, others func(func(*worldMachine) bool) bool) string {
	switch {
	case !known || !w.clusterKnows:
		return "creates while the state of the cluster is unknown"
	case len(w.machines) >= w.desired+w.surge:
		return "creates too many Machines"
	case others(func(m *worldMachine) bool { return m.deleting || m.stage != joined }):
		return "creates while another Machine is joining or being deleted"
	case w.remediation == nil && others((*worldMachine).broken):
		return "creates while another Machine is unhealthy"
	}
	return ""
}

func (w *world) failingRemoval(next Decision) string {
	if slices.ContainsFunc(w.machines, func(m *worldMachine) bool { return m.deleting && !m.hooked }) && next.Action == ActionRelease {
		return "releases two Machines at once"
	}
	if !w.initialized || len(w.machines) == 1 && next.Action == ActionRelease {
		return ""
	}
	victim := w.find(next.Machine)
	works := func(m *worldMachine) bool { return m != victim && !m.broken() && m.stage == joined }
	if next.Action == ActionRelease && victim.stage == joined && (w.blind || !slices.ContainsFunc(w.machines, works)) {
		return "releases a Machine although no other one is known to serve"
	}
	if member := w.member(victim); next.Action == ActionRelease && member != nil && member.id != next.Etcd.Leaving.ID {
		return "releases a Machine while its member stays in etcd"
	}
	if next.Etcd.Leaving.ID != 0 && !w.quorate(func(m *worldMember) bool { return m.id != next.Etcd.Leaving.ID }) {
		return "etcd loses its quorum"
	}
	for _, member := range w.members {
		needed := member.id == next.Etcd.Leaving.ID && member.alive() && member.machine != victim && !member.machine.deleting
		if needed && (member.machine.stage == joined || w.now.Sub(member.added) < orphanGrace) {
			return "removes the member of a Machine that stays or is joining"
		}
	}
	return ""
}

// userDeletes deletes a Machine, but never the last one that stays: a control plane without
// Machines is lost.
func (w *world) userDeletes(t *rapid.T) {
	if staying := w.staying(); len(staying) > 1 {
		rapid.SampledFrom(staying).Draw(t, "deleted").deleting = true
	}
}

func (w *world) staying() []*worldMachine {
	var result []*worldMachine
	for _, machine := range w.machines {
		if !machine.deleting && machine.stage == joined {
			result = append(result, machine)
		}
	}
	return result
}

// instanceVanishes removes a Machine and its instance unnoticed, if etcd keeps quorum: a lost
// quorum is beyond repair.
func (w *world) instanceVanishes(t *rapid.T) {
	staying := w.staying()
	if len(staying) < 2 {
		return
	}
	machine := rapid.SampledFrom(staying).Draw(t, "vanished")
	before := w.member(machine)
	alive := func(m *worldMember) bool { return m.alive() && m != before && !m.learner }
	voters := len(slices.DeleteFunc(slices.Clone(w.members), func(m *worldMember) bool { return m.learner }))
	if count := len(slices.DeleteFunc(slices.Clone(w.members), func(m *worldMember) bool { return !alive(m) })); w.external || count >= voters/2+1 {
		w.vanish(machine)
	}
}

// happens applies a change to a random Machine.
func (w *world) happens(change func(*worldMachine)) func(*rapid.T) {
	return func(t *rapid.T) {
		if len(w.machines) > 0 {
			change(rapid.SampledFrom(w.machines).Draw(t, "machine"))
		}
	}
}

// bearable reports whether the broken parts may stay broken: etcd has quorum, and a Machine works
// that others can join.
func (w *world) bearable() bool {
	works := func(m *worldMachine) bool { return !m.broken() && !m.deleting && m.stage == joined }
	return w.initialized && w.quorate(everyMember) && slices.ContainsFunc(w.machines, works)
}

// histories sets the number of random histories. With HISTORIES, there are that many, different
// each time. Without it, they are the same 10,000 each time, so that a unit test does not fail by
// chance.
func histories(t *testing.T) {
	t.Helper()
	number, seed := os.Getenv("HISTORIES"), "0"
	if number == "" {
		number, seed = "10000", flag.Lookup("rapid.seed").Value.String()
		if seed == "0" {
			seed = "1"
		}
	}
	for name, value := range map[string]string{"rapid.checks": number, "rapid.seed": seed} {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatalf("%s %s: %v", name, value, err)
		}
		t.Cleanup(func() { _ = flag.Set(name, before) })
	}
}

func TestPlanIsSafeAndConverges(t *testing.T) {
	histories(t)
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.SampledFrom([]int{1, 3, 5})
		w := newWorld(replicas.Draw(t, "desired"))
		w.external = rapid.Bool().Draw(t, "external")
		w.surge = rapid.IntRange(0, 1).Draw(t, "surge")
		w.domains = rapid.SampledFrom([][]string{nil, {"a", "b", "c"}}).Draw(t, "domains")
		crash := never
		var before State
		var last Decision
		step := func() Decision {
			s := w.state()
			next := Decide(s)
			if again := Decide(s); again.Action != next.Action || again.Message != next.Message {
				t.Fatalf("the same state leads to two decisions: %+v and %+v", next, again)
			}
			timeless := s
			timeless.Now = time.Time{}
			if next.Action == last.Action && next.Reason == last.Reason && next.Message != last.Message && reflect.DeepEqual(timeless, before) {
				t.Fatalf("the message changes without reason, which costs a write: %+v after %+v", next, last)
			}
			before, last = timeless, next
			if !w.stale(next) {
				if problem := w.failing(next); problem != "" {
					t.Fatalf("%s: %+v in %+v", problem, next, s)
				}
			}
			if done := w.carryOut(next, crash); done {
				w.report(s)
			}
			return next
		}
		// Most failures need a control plane that has all its Machines.
		for range rapid.IntRange(0, 40).Draw(t, "steps before") {
			w.progress()
			step()
		}
		t.Repeat(map[string]func(*rapid.T){
			"plan":     func(*rapid.T) { step() },
			"progress": func(*rapid.T) { w.progress() },
			"onward":   func(*rapid.T) { w.progress(); step() },
			"heal":     func(*rapid.T) { w.heal() },
			"restore":  func(*rapid.T) { w.loseStatus() },
			"restart":  func(*rapid.T) { w.restart() },
			"lag":      func(*rapid.T) { w.fallBehind() },
			"refuse":   func(*rapid.T) { w.refused = !w.refused },
			"crash": func(t *rapid.T) {
				crash = rapid.IntRange(0, 2).Draw(t, "effects")
				step()
				crash = never
				w.restart()
			},
			"mark":      w.happens(func(m *worldMachine) { m.flagged = true }),
			"blind":     func(*rapid.T) { w.blind = true },
			"fail":      w.happens(func(m *worldMachine) { m.failed = true }),
			"cripple":   w.happens(func(m *worldMachine) { m.crippled = true }),
			"unready":   w.happens(func(m *worldMachine) { m.unready = !m.unready }),
			"slow":      w.happens(func(m *worldMachine) { m.slow = 15 }),
			"check":     func(*rapid.T) { w.checkHealth() },
			"delete":    w.userDeletes,
			"vanish":    w.instanceVanishes,
			"scale":     func(t *rapid.T) { w.desired = replicas.Draw(t, "desired") },
			"configure": func(t *rapid.T) { w.config = rapid.IntRange(0, 2).Draw(t, "config") },
			"release":   func(t *rapid.T) { w.release = rapid.IntRange(0, 1).Draw(t, "release") },
			"version": func(t *rapid.T) {
				w.version = rapid.SampledFrom([]string{"v1.35.4", testVersion, "v1.37.0", "v1.39.0"}).Draw(t, "version")
			},
		})
		w.converge(t, step)
	})
}

// converge lets the user and the world do what they must, and nothing more, until the plan settles.
func (w *world) converge(t *rapid.T, step func() Decision) {
	if !w.bearable() || rapid.Bool().Draw(t, "healed") {
		w.heal()
	}
	w.blind, w.refused, w.cached = false, false, nil
	w.userRelents()
	created := w.created
	for range 400 {
		w.checkHealth()
		w.progress()
		w.userRelents()
		if w.settled(step()) {
			return
		}
		if made := w.created - created; made > 3*(w.desired+5) {
			t.Fatalf("never stops creating Machines: %d, %+v", made, w.state())
		}
	}
	t.Fatalf("does not converge: %+v in %+v", Decide(w.state()), w.state())
}

// userRelents reverts what is refused and confirms what is held.
func (w *world) userRelents() {
	if w.desired < minReplicasWithoutSurge {
		w.surge = 1
	}
	w.version = w.newestVersion()
	if slices.ContainsFunc(w.machines, func(m *worldMachine) bool { return m.stage == joined }) && w.state().versionProblem() != "" {
		w.version = w.machinesVersion()
	}
	w.confirmed = w.digest()
}

func (w *world) machinesVersion() string {
	newest := ""
	for _, machine := range w.machines {
		if machine.stage == joined && (newest == "" || compareVersions(machine.version, newest) > 0) {
			newest = machine.version
		}
	}
	return newest
}
