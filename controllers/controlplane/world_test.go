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
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// stage is how far a Machine has come on its way into the control plane.
type stage int

const (
	starting stage = iota
	// learning has a learner that has not published its name.
	learning
	// voting has a voting member, and the Machine does not name its Node yet.
	voting
	joined
)

// world is a control plane as it could be, in which plans are carried out and things happen.
type world struct {
	now      time.Time
	machines []*worldMachine
	members  []*worldMember
	created  int
	nextID   uint64

	// external says that etcd is somebody else's, and always works.
	external        bool
	desired, surge  int
	version         string
	config, release int
	confirmed       string
	domains         []string

	endpoint, initialized, clusterKnows, blind bool
	seen                                       *sightings
	remediation                                *remediation
	retries                                    retryLimits
}

type worldMachine struct {
	name, domain, version string
	config, release       int
	created               time.Time
	stage                 stage
	failed, flagged       bool
	// crippled is a Machine of which a component other than etcd does not work, and unready one whose Node is not ready.
	crippled, unready bool
	// brokenFor is how long it has been broken.
	brokenFor                 time.Duration
	deleting, hooked, drained bool
	// doomed is a Machine whose member was taken away: it stays broken.
	doomed      bool
	madeUnder   string
	replacement *remediation
}

type worldMember struct {
	id      uint64
	name    string
	learner bool
	// machine that the member runs on; nil if that is gone.
	machine *worldMachine
}

func (m *worldMember) observed() workload.Member {
	result := workload.Member{ID: m.id, Name: m.name, Learner: m.learner}
	if !m.alive() {
		result.Problem = "it can not be asked"
	}
	return result
}

func (m *worldMachine) broken() bool { return m.failed || m.crippled }

func (m *worldMember) alive() bool { return m.machine != nil && !m.machine.failed }

func newWorld(desired int) *world {
	return &world{
		now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), desired: desired, surge: 1, version: testVersion,
		retries: retryLimits{MinHealthy: time.Hour}, seen: newSightings(),
	}
}

func (w *world) digest() string { return fmt.Sprintf("%s-%d-%d", w.version, w.config, w.release) }

// quorate is the truth about etcd's quorum among the members that count.
func (w *world) quorate(counts func(*worldMember) bool) bool {
	voters, alive := 0, 0
	for _, member := range w.members {
		if member.learner || !counts(member) {
			continue
		}
		voters++
		if member.alive() {
			alive++
		}
	}
	return w.external || alive >= voters/2+1
}

// answers is the truth about whether the workload cluster can be asked.
func (w *world) answers() bool {
	serves := func(m *worldMachine) bool { return m.stage >= voting && !m.failed }
	return w.initialized && w.quorate(everyMember) && (!w.external || slices.ContainsFunc(w.machines, serves))
}

func everyMember(*worldMember) bool { return true }

func (w *world) state() state {
	s := state{
		Now: w.now, Desired: w.desired, MaxSurge: w.surge, Version: w.version, EtcdManaged: !w.external,
		Confirmed: w.confirmed, Digest: w.digest(), FailureDomains: w.domains,
		PlacementKnown: w.endpoint, Initialized: w.initialized, ClusterInitialized: w.clusterKnows,
		Retries: w.retries, Remediation: w.remediation,
	}
	if !w.endpoint {
		s.FoundationProblem = problem{Reason: reasonWaitingForInfrastructure, Message: "no endpoint"}
	}
	if w.blind || !w.answers() {
		s.WorkloadProblem = "no answer"
	}
	for _, machine := range w.machines {
		s.Machines = append(s.Machines, w.machineState(machine, s.WorkloadProblem != ""))
	}
	if s.WorkloadProblem != "" {
		w.seen.broken("", w.now, nil)
		return s
	}
	since := w.seen.broken("", w.now, s.broken())
	for i := range s.Machines {
		s.Machines[i].BrokenSince = since[s.Machines[i].Name]
	}
	for _, member := range w.members {
		s.Etcd.Members = append(s.Etcd.Members, member.observed())
		if s.Etcd.Leader == 0 && member.alive() && !member.learner {
			s.Etcd.Leader = member.id
		}
	}
	s.StraySince = w.seen.strays("", w.now, s.strays())
	return s
}

func (w *world) machineState(machine *worldMachine, blind bool) machineState {
	result := machineState{
		Name: machine.name, Version: machine.version, Provisioned: machine.stage != starting, FailureDomain: machine.domain, Created: machine.created,
		Deleting: machine.deleting, Hooked: machine.hooked, AtHook: machine.deleting && machine.drained,
		Remediate: machine.flagged, ReplacementFor: machine.replacement, MadeUnder: machine.madeUnder,
	}
	if machine.stage == joined {
		result.Node = machine.name
		result.NodeNotReady = machine.unready && !blind
	}
	if machine.broken() || machine.stage != joined || blind {
		result.Unhealthy = []string{"not healthy"}
	}
	if machine.version != w.version {
		result.Outdated = append(result.Outdated, difference{Field: fieldVersion, Text: "version", Asked: true})
	}
	if machine.config != w.config {
		result.Outdated = append(result.Outdated, difference{Field: fieldConfig, Text: "config", Asked: true})
	}
	if machine.release != w.release {
		result.Outdated = append(result.Outdated, difference{Field: fieldConfig, Text: "release"})
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

func (w *world) member(machine *worldMachine) *worldMember {
	index := slices.IndexFunc(w.members, func(member *worldMember) bool { return member.machine == machine })
	if index < 0 {
		return nil
	}
	return w.members[index]
}

func (w *world) removeMember(id uint64) {
	for _, member := range w.members {
		if member.id == id && member.machine != nil {
			member.machine.doomed, member.machine.failed = true, true
		}
	}
	w.members = slices.DeleteFunc(w.members, func(member *worldMember) bool { return member.id == id })
}

// carryOut does what apply does.
func (w *world) carryOut(next decision) {
	switch next.Action {
	case actionInitialize, actionCreate:
		w.created++
		w.machines = append(w.machines, &worldMachine{
			name: fmt.Sprintf("m%d", w.created), hooked: true, version: w.version, config: w.config, release: w.release,
			created: w.now, domain: next.FailureDomain, replacement: next.Remediation, madeUnder: w.confirmed,
		})
		w.remediation = nil
	case actionRemediate:
		w.remediation = next.Remediation
		w.find(next.Machine).deleting = true
	case actionDelete:
		w.find(next.Machine).deleting = true
	case actionRemoveMember:
		w.removeMember(next.Etcd.Leaving.ID)
	case actionRelease:
		w.removeMember(next.Etcd.Leaving.ID)
		w.find(next.Machine).hooked = false
	default:
	}
	if s := w.state(); s.Remediation != nil && len(w.machines) >= s.target() && w.find(s.Remediation.Machine) == nil {
		w.remediation = nil
	}
}

// progress lets everybody else do their part: Machines join step by step, are drained and go, and the Cluster hears of it.
func (w *world) progress() {
	w.now = w.now.Add(time.Minute)
	w.endpoint = true
	for _, machine := range w.machines {
		machine.drained = machine.drained || machine.deleting
		if machine.broken() {
			machine.brokenFor += time.Minute
		}
		// The Node of a Machine that is being deleted becomes known too, by its provider ID.
		if !machine.failed && (!machine.deleting || machine.stage == voting) {
			w.advance(machine)
		}
	}
	for _, machine := range w.machines {
		if machine.deleting && !machine.hooked {
			w.vanish(machine)
		}
	}
	w.clusterKnows = w.initialized
}

func (w *world) advance(machine *worldMachine) {
	switch machine.stage {
	case starting:
		if w.external {
			w.joinAlone(machine)
			return
		}
		// etcd takes no new member while it misses one.
		if slices.ContainsFunc(w.members, func(member *worldMember) bool { return !member.alive() }) {
			return
		}
		w.nextID++
		w.members = append(w.members, &worldMember{id: w.nextID, learner: w.initialized, machine: machine})
		if w.initialized {
			machine.stage = learning
			return
		}
		w.initialized = true
		fallthrough
	case learning:
		if member := w.member(machine); member != nil && w.quorate(everyMember) {
			member.name, member.learner = machine.name, false
			machine.stage = voting
		}
	case voting:
		machine.stage = joined
	case joined:
	}
}

// joinAlone has a Machine join that runs no etcd.
func (w *world) joinAlone(machine *worldMachine) {
	if !w.initialized || w.answers() {
		w.initialized = true
		machine.stage = voting
	}
}

// vanish ends a Machine with its instance; a member that it has stays behind.
func (w *world) vanish(machine *worldMachine) {
	if member := w.member(machine); member != nil {
		member.machine = nil
	}
	w.machines = slices.DeleteFunc(slices.Clone(w.machines), func(other *worldMachine) bool { return other == machine })
}

func (w *world) heal() {
	w.blind = false
	for _, machine := range w.machines {
		machine.failed, machine.crippled, machine.flagged = machine.doomed, false, false
		if !machine.doomed {
			machine.brokenFor = 0
		}
	}
	// The end of a failure is reported, and looked at.
	w.state()
}

// checkHealth does what a MachineHealthCheck does.
func (w *world) checkHealth() {
	for _, machine := range w.machines {
		machine.flagged = machine.broken()
	}
}

// settled says whether nothing is left to do.
func (w *world) settled(next decision) bool {
	upToDate := func(m machineState) bool { return len(m.Outdated) == 0 && m.joined() }
	return next.Action == actionNone && len(w.machines) == w.desired && (w.external || len(w.members) == w.desired) &&
		len(filter(w.state().Machines, upToDate)) == w.desired
}

// newestVersion is the newest that a Machine of the control plane has.
func (w *world) newestVersion() string {
	newest := w.version
	for _, machine := range w.machines {
		if machine.stage == joined && compareVersions(machine.version, newest) > 0 {
			newest = machine.version
		}
	}
	return newest
}
