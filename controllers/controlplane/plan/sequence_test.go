// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
)

// story runs the plan for an hour of the world's time, and returns the actions taken.
func (w *world) story() []string {
	var done []string
	for range 60 {
		w.checkHealth()
		w.progress()
		s := w.state()
		next := Decide(s)
		w.carryOut(next, never)
		w.report(s)
		if next.Acts() {
			subject := next.Machine
			if next.Action == ActionCreate || next.Action == ActionInitialize {
				subject = fmt.Sprintf("m%d", w.created)
				if next.FailureDomain != "" {
					subject += " in " + next.FailureDomain
				}
			}
			done = append(done, fmt.Sprintf("%s %s (%s)", next.Action, subject, next.Reason))
		}
	}
	if last := Decide(w.state()); last.Action == ActionWait {
		done = append(done, "Wait: "+last.Reason)
	}
	return done
}

// ofThree returns a settled control plane with three Machines.
func ofThree(changes ...func(*world)) *world {
	w := newWorld(3)
	w.story()
	for _, change := range changes {
		change(w)
	}
	return w
}

func TestSequences(t *testing.T) {
	upgrade := func(w *world) { w.version = "v1.37.0" }
	zones := func(w *world) { w.domains = []string{"a", "b", "c"} }
	fail := func(names ...string) func(*world) {
		return func(w *world) {
			for _, name := range names {
				w.find(name).failed = true
			}
		}
	}
	tests := map[string]struct {
		world *world
		want  []string
	}{
		"scale up": {
			world: func() *world { w := newWorld(3); zones(w); return w }(),
			want: []string{
				"Initialize m1 in a (Initializing)", "CreateMachine m2 in b (ScalingUp)", "CreateMachine m3 in c (ScalingUp)",
			},
		},
		"scale down": {
			world: ofThree(func(w *world) { w.desired = 1 }),
			want: []string{
				"DeleteMachine m1 (ScalingDown)", "ReleaseMachine m1 (ReleasingMachine)",
				"DeleteMachine m2 (ScalingDown)", "ReleaseMachine m2 (ReleasingMachine)",
			},
		},
		"scale down deletes a broken Machine": {
			world: ofThree(func(w *world) { w.desired = 1 }, func(w *world) { w.find("m2").failed = true; w.retries.MaxRetry = ptr.To[int32](0) }),
			want: []string{
				"RemediateMachine m2 (Remediating)", "ReleaseMachine m2 (ReleasingMachine)",
				"DeleteMachine m1 (ScalingDown)", "ReleaseMachine m1 (ReleasingMachine)",
			},
		},
		"rollout with surge 1": {
			world: ofThree(upgrade),
			want: []string{
				"CreateMachine m4 (RollingOut)", "DeleteMachine m1 (RollingOut)", "ReleaseMachine m1 (ReleasingMachine)",
				"CreateMachine m5 (RollingOut)", "DeleteMachine m2 (RollingOut)", "ReleaseMachine m2 (ReleasingMachine)",
				"CreateMachine m6 (RollingOut)", "DeleteMachine m3 (RollingOut)", "ReleaseMachine m3 (ReleasingMachine)",
			},
		},
		"rollout with surge 0": {
			world: ofThree(upgrade, func(w *world) { w.surge = 0 }),
			want: []string{
				"DeleteMachine m1 (RollingOut)", "ReleaseMachine m1 (ReleasingMachine)", "CreateMachine m4 (RollingOut)",
				"DeleteMachine m2 (RollingOut)", "ReleaseMachine m2 (ReleasingMachine)", "CreateMachine m5 (RollingOut)",
				"DeleteMachine m3 (RollingOut)", "ReleaseMachine m3 (ReleasingMachine)", "CreateMachine m6 (ScalingUp)",
			},
		},
		"rollout of one replica": {
			world: func() *world { w := newWorld(1); w.story(); upgrade(w); return w }(),
			want:  []string{"CreateMachine m2 (RollingOut)", "DeleteMachine m1 (RollingOut)", "ReleaseMachine m1 (ReleasingMachine)"},
		},
		"rollout of one replica without surge is refused": {
			world: func() *world { w := newWorld(1); w.story(); upgrade(w); w.surge = 0; return w }(),
			want:  []string{"Wait: MaxSurgeRefused"},
		},
		"rollout keeps the balance of failure domains": {
			world: func() *world { w := newWorld(3); zones(w); w.story(); upgrade(w); return w }(),
			want: []string{
				"CreateMachine m4 in a (RollingOut)", "DeleteMachine m1 (RollingOut)", "ReleaseMachine m1 (ReleasingMachine)",
				"CreateMachine m5 in b (RollingOut)", "DeleteMachine m2 (RollingOut)", "ReleaseMachine m2 (ReleasingMachine)",
				"CreateMachine m6 in c (RollingOut)", "DeleteMachine m3 (RollingOut)", "ReleaseMachine m3 (ReleasingMachine)",
			},
		},
		"a rollout that the user did not ask for is held": {
			world: ofThree(func(w *world) { w.release = 1 }),
			want:  []string{"Wait: RolloutHeld"},
		},
		"a confirmed rollout continues": {
			world: func() *world {
				w := newWorld(1)
				w.story()
				w.release = 1
				w.confirmed = w.digest()
				return w
			}(),
			want: []string{"CreateMachine m2 (RollingOut)", "DeleteMachine m1 (RollingOut)", "ReleaseMachine m1 (ReleasingMachine)"},
		},
		"remediation of 1 of 3": {
			world: ofThree(fail("m2")),
			want:  []string{"RemediateMachine m2 (Remediating)", "ReleaseMachine m2 (ReleasingMachine)", "CreateMachine m4 (Remediating)"},
		},
		"remediation of 2 of 5": {
			world: func() *world { w := newWorld(5); w.story(); fail("m2", "m4")(w); return w }(),
			want: []string{
				"RemediateMachine m2 (Remediating)", "ReleaseMachine m2 (ReleasingMachine)",
				"RemediateMachine m4 (Remediating)", "ReleaseMachine m4 (ReleasingMachine)",
				"CreateMachine m6 (Remediating)", "CreateMachine m7 (ScalingUp)",
			},
		},
		"remediation of 2 of 3 waits": {
			world: ofThree(fail("m2", "m3")),
			want:  []string{"Wait: RemediationDeferred"},
		},
		"an orphaned member is removed and replaced": {
			world: ofThree(func(w *world) { w.vanish(w.find("m1")) }),
			want:  []string{"RemoveEtcdMember  (RemovingOrphanedEtcdMember)", "CreateMachine m4 (ScalingUp)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.world.story()).To(Equal(test.want))
		})
	}
}

func TestGoingBackAbandonsTheNewMachine(t *testing.T) {
	g := NewWithT(t)
	w := ofThree(func(w *world) { w.version = "v1.37.0" })
	w.carryOut(Decide(w.state()), never)
	w.find("m4").failed = true
	w.progress()
	g.Expect(Decide(w.state()).Action).To(Equal(ActionWait))
	w.version = testVersion
	g.Expect(w.story()).To(Equal([]string{"DeleteMachine m4 (AbandoningMachine)", "ReleaseMachine m4 (ReleasingMachine)"}))
}

func TestGoingBackIsRefusedOnceTheNewMachineHasJoined(t *testing.T) {
	g := NewWithT(t)
	w := ofThree(func(w *world) { w.version = "v1.37.0" })
	w.carryOut(Decide(w.state()), never)
	for range 5 {
		w.progress()
	}
	w.version = testVersion
	next := Decide(w.state())
	g.Expect(next.Reason).To(Equal(ReasonVersionRefused))
	g.Expect(next.Message).To(ContainSubstring("Machine m4 has joined with v1.37.0"))
}

func TestARolloutWaitsForABrokenMachineToRecover(t *testing.T) {
	g := NewWithT(t)
	w := ofThree(func(w *world) { w.version = "v1.37.0"; w.find("m2").crippled = true })
	g.Expect(Decide(w.state())).To(And(HaveField("Action", ActionWait), HaveField("Reason", ReasonMachinesNotHealthy)))
	w.heal()
	w.progress()
	next := Decide(w.state())
	g.Expect(next).To(And(HaveField("Action", ActionCreate), HaveField("Reason", reasonRollingOut)))
	w.carryOut(next, never)
	g.Expect(w.find("m4")).NotTo(BeNil())
}

func TestARolloutDeletesAMachineThatStaysBroken(t *testing.T) {
	g := NewWithT(t)
	w := ofThree(func(w *world) { w.version = "v1.37.0"; w.find("m2").crippled = true })
	began := w.now
	var next Decision
	for next = Decide(w.state()); !next.Acts() && w.now.Sub(began) < time.Hour; next = Decide(w.state()) {
		w.progress()
	}
	g.Expect(w.now.Sub(began)).To(Equal(brokenGrace))
	g.Expect(next).To(And(HaveField("Action", ActionDelete), HaveField("Reason", reasonRollingOut), HaveField("Machine", "m2")))
}

func TestRetries(t *testing.T) {
	w := ofThree()
	last := func(retries int32, ago time.Duration) *Remediation {
		record := &Remediation{Machine: "m0", RetryCount: retries}
		record.Timestamp.Time = w.now.Add(-ago)
		return record
	}
	tests := map[string]struct {
		last    *Remediation
		limits  RetryLimits
		retries int32
		reason  string
	}{
		"first failure":            {retries: 0},
		"second failure":           {last: last(0, time.Minute), limits: RetryLimits{MinHealthy: time.Hour}, retries: 1},
		"after the healthy period": {last: last(5, 2*time.Hour), limits: RetryLimits{MinHealthy: time.Hour, MaxRetry: ptr.To[int32](1)}, retries: 0},
		"within the retry period":  {last: last(0, time.Minute), limits: RetryLimits{MinHealthy: time.Hour, Period: 5 * time.Minute}, reason: "RemediationDeferred"},
		"as often as allowed":      {last: last(1, time.Minute), limits: RetryLimits{MinHealthy: time.Hour, MaxRetry: ptr.To[int32](2)}, retries: 2},
		"more often than allowed":  {last: last(2, time.Minute), limits: RetryLimits{MinHealthy: time.Hour, MaxRetry: ptr.To[int32](2)}, reason: "CannotBeRemediated"},
		"no retry allowed":         {last: last(0, time.Minute), limits: RetryLimits{MinHealthy: time.Hour, MaxRetry: ptr.To[int32](0)}, reason: "CannotBeRemediated"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := w.state()
			s.Retries = test.limits
			s.Machines[1].Remediate, s.Machines[1].ReplacementFor = true, test.last
			next := Decide(s)
			if test.reason != "" {
				g.Expect(next.Reason).To(Equal(test.reason), next.Message)
				g.Expect(next.Recheck.IsZero()).To(Equal(test.limits.Period == 0))
				return
			}
			g.Expect(next.Action).To(Equal(ActionRemediate), next.Message)
			g.Expect(next.Remediation.RetryCount).To(Equal(test.retries))
		})
	}
}

func TestRemediationSaysWhyNot(t *testing.T) {
	flag := func(names ...string) func(*State) {
		return func(s *State) {
			for i := range s.Machines {
				for _, name := range names {
					s.Machines[i].Remediate = s.Machines[i].Remediate || s.Machines[i].Name == name
				}
			}
		}
	}
	sick := func(s *State) {
		s.Machines[1].Unhealthy, s.Etcd.Members[1].Problem = []string{"etcd: failed"}, "no answer"
	}
	crippled := func(s *State) { s.Machines[1].Unhealthy = []string{"kube-scheduler: failed"} }
	external := func(s *State) { s.EtcdManaged = false; s.Etcd.Members = nil }
	tests := map[string]struct {
		state   State
		reason  string
		message string
	}{
		"only one":                         {with(settled("a"), flag("a")), "CannotBeRemediated", "it is the only one, and the cluster's state would be lost"},
		"only one, external etcd":          {with(settled("a"), flag("a"), external), "CannotBeRemediated", "no replacement could join"},
		"external etcd":                    {with(settled("a", "b", "c"), flag("a"), external), reasonRemediating, "to replace it"},
		"quorum":                           {with(settled("a", "b", "c"), flag("a"), sick), "CannotBeRemediated", "only 1 of 2 voting members would be healthy, but quorum needs 2"},
		"etcd keeps quorum":                {with(settled("a", "b", "c"), flag("a"), crippled), reasonRemediating, "deleting Machine a"},
		"health unknown":                   {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.WorkloadProblem = "no answer" }), "RemediationDeferred", "no answer"},
		"etcd unknown":                     {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.Etcd.Members = nil }), "RemediationDeferred", "etcd could not be queried"},
		"a learner":                        {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.Etcd.Members[2].Learner = true }), "RemediationDeferred", "c is a learner"},
		"another Machine is joining":       {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.Machines[2].Node = "" }), "RemediationDeferred", "until Machine c has joined"},
		"another Machine is being deleted": {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.Machines[2].Deleting = true }), ReasonWaitingForMachineDeletion, "Machine c"},
		"the template is gone":             {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.TemplateProblem = "no template" }), "RemediationDeferred", "no template"},
		"the topology upgrades":            {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.Awaited = "v1.37.0" }), "RemediationDeferred", "hand down version v1.37.0"},
		"an alarm on another member":       {with(settled("a", "b", "c"), flag("a"), func(s *State) { s.Etcd.Members[1].Alarms = []string{"NOSPACE"} }), "CannotBeRemediated", "1 of 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := Decide(test.state)
			g.Expect(next.Reason).To(Equal(test.reason), next.Message)
			g.Expect(next.Message).To(ContainSubstring(test.message))
		})
	}
}
