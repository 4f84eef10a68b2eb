// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/blang/semver/v4"
)

// stage is how far a Machine has come in joining the control plane.
type stage int

const (
	starting stage = iota
	// booting: its infrastructure is up, and it is about to join etcd.
	booting
	// learning: it has a learner that has not published its name.
	learning
	// voting: it has a voting member, but the Machine does not name its Node yet.
	voting
	joined
)

// world is the true state of a control plane, in which plans are carried out and events happen.
type world struct {
	now      time.Time
	machines []*worldMachine
	members  []*worldMember
	created  int
	nextID   uint64

	// external means that the user runs etcd, which always works.
	external        bool
	desired, surge  int
	version         string
	config, release int
	confirmed       string
	domains         []string

	endpoint, initialized, clusterKnows, blind bool
	// statusKnows is what the FooControlPlane's status says, which may be lost. known is whether it
	// ever said so.
	statusKnows, known bool
	// cached are the Machines that a stale cache shows; nil while the cache is up to date.
	cached []*worldMachine
	// refused means that no Machine can be created.
	refused     bool
	seen        *memory
	remediation *Remediation
	retries     RetryLimits
}

type worldMachine struct {
	name, domain, version string
	config, release       int
	created               time.Time
	stage                 stage
	failed, flagged       bool
	// crippled means that a component other than etcd is broken; unready, that the Node is not ready.
	crippled, unready         bool
	brokenFor                 time.Duration
	deleting, hooked, drained bool
	// doomed means that its member was removed, so the Machine stays broken.
	doomed bool
	// slow is how many minutes its infrastructure still takes to come up; upSince is when it came up.
	slow    int
	upSince time.Time
	// marked means that the Machine is marked as the one that initialized the control plane; joins,
	// that it was made to join; nodeRef, that its status names its Node, which may be lost.
	marked, joins, nodeRef bool
	madeUnder              string
	replacement            *Remediation
}

type worldMember struct {
	id      uint64
	name    string
	learner bool
	added   time.Time
	// machine that the member runs on; nil if it is gone.
	machine *worldMachine
}

func (m *worldMember) observed() Member {
	result := Member{ID: m.id, Name: m.name, Learner: m.learner}
	if !m.alive() {
		result.Problem = "it could not be queried: no answer"
	}
	return result
}

func (m *worldMachine) broken() bool { return m.failed || m.crippled }

func (m *worldMember) alive() bool { return m.machine != nil && !m.machine.failed }

func newWorld(desired int) *world {
	return &world{
		now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), desired: desired, surge: 1, version: testVersion,
		retries: RetryLimits{MinHealthy: time.Hour}, seen: newMemory(),
	}
}

func (w *world) digest() string { return fmt.Sprintf("%s-%d-%d", w.version, w.config, w.release) }

// quorate reports whether the members that count truly have quorum.
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

// answers reports whether the workload cluster truly answers.
func (w *world) answers() bool {
	serves := func(m *worldMachine) bool { return m.stage >= voting && !m.failed }
	return w.initialized && w.quorate(everyMember) && (!w.external || slices.ContainsFunc(w.machines, serves))
}

func everyMember(*worldMember) bool { return true }

func (w *world) state() State {
	s := State{
		Now: w.now, Desired: w.desired, MaxSurge: w.surge, Version: w.version, EtcdManaged: !w.external,
		Confirmed: w.confirmed, Digest: w.digest(), FailureDomains: w.domains,
		PlacementKnown: w.endpoint, ClusterInitialized: w.clusterKnows,
		Retries: w.retries, Remediation: w.pendingRemediation(),
	}
	s.Initialized = w.evidence().Initialized() || !w.blind && w.answers() && len(w.visible()) > 0 && !w.visible()[0].deleting
	if !w.endpoint {
		s.PrerequisiteProblem = Problem{Reason: ReasonWaitingForInfrastructure, Message: "no endpoint"}
	}
	if w.blind || !w.answers() || !s.Initialized {
		s.WorkloadProblem = "no answer"
	}
	for _, machine := range w.visible() {
		s.Machines = append(s.Machines, w.machineState(machine, s.WorkloadProblem != ""))
	}
	w.noteProvisioned(s)
	if s.WorkloadProblem != "" {
		since(w.seen.broken, w.now, nil)
		return s
	}
	brokenSince := since(w.seen.broken, w.now, s.Broken())
	for i := range s.Machines {
		s.Machines[i].BrokenSince = brokenSince[s.Machines[i].Name]
	}
	for _, member := range w.members {
		s.Etcd.Members = append(s.Etcd.Members, member.observed())
		if s.Etcd.Leader == 0 && member.alive() && !member.learner {
			s.Etcd.Leader = member.id
		}
	}
	s.StraySince = since(w.seen.strays, w.now, strayIDs(s))
	return s
}

// noteProvisioned records since when each Machine's infrastructure has been up.
func (w *world) noteProvisioned(s State) {
	var up []string
	for _, machine := range w.visible() {
		if machine.stage != starting {
			up = append(up, machine.name)
		}
	}
	provisioned := since(w.seen.provisioned, w.now, up)
	for i := range s.Machines {
		s.Machines[i].ProvisionedSince = provisioned[s.Machines[i].Name]
	}
}

func (w *world) machineState(machine *worldMachine, blind bool) Machine {
	// Health is not cached. A Machine that is gone is unhealthy.
	live := w.find(machine.name)
	if live == nil {
		live = &worldMachine{failed: true}
	}
	result := Machine{
		Name: machine.name, Version: machine.version, FailureDomain: machine.domain, Created: machine.created,
		Deleting: machine.deleting, Hooked: machine.hooked, AtHook: machine.deleting && machine.drained,
		Remediate: machine.flagged, ReplacementFor: machine.replacement, MadeUnder: machine.madeUnder,
	}
	if machine.stage == joined && (machine.nodeRef || !blind) {
		result.Node = machine.name
		result.NodeNotReady = live.unready && !blind
	}
	if live.broken() || machine.stage != joined || blind {
		result.Unhealthy = []string{"not healthy"}
	}
	if machine.version != w.version {
		result.Outdated = append(result.Outdated, Difference{Field: "spec.version", Text: "version", Asked: true})
	}
	if machine.config != w.config {
		result.Outdated = append(result.Outdated, Difference{Field: "spec.kubeadmConfigSpec", Text: "config", Asked: true})
	}
	if machine.release != w.release {
		result.Outdated = append(result.Outdated, Difference{Field: "spec.kubeadmConfigSpec", Text: "release"})
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

// visible returns the Machines that the cache shows.
func (w *world) visible() []*worldMachine {
	if w.cached != nil {
		return w.cached
	}
	return w.machines
}

// newFor is how long the Node of a new Machine does not prove initialization. It is longer than in the
// controller, because the world takes minutes for what takes seconds.
const newFor = 10 * time.Minute

func (w *world) evidence() Evidence {
	result := Evidence{Status: w.statusKnows, Cluster: w.clusterKnows, Machines: len(w.visible())}
	for _, machine := range w.visible() {
		result.Marked = result.Marked || machine.marked
		result.Joining = result.Joining || machine.joins
		old := w.now.Sub(machine.created) > newFor
		result.Node = result.Node || machine.stage == joined && machine.nodeRef && !machine.deleting && old
	}
	return result
}

// pendingRemediation reads the annotation as the controller does: a Machine that was made for the
// remediation shows that it is complete, and a remediated Machine that is not being deleted shows
// that it was never carried out.
func (w *world) pendingRemediation() *Remediation {
	for _, machine := range w.visible() {
		made := machine.replacement != nil && w.remediation != nil && *machine.replacement == *w.remediation
		if made || w.remediation != nil && machine.name == w.remediation.Machine && !machine.deleting {
			return nil
		}
	}
	return w.remediation
}

// report makes the writes of a reconcile that outlive it.
func (w *world) report(s State) {
	if !s.Initialized {
		return
	}
	w.statusKnows, w.known = true, true
	for _, machine := range w.machines {
		machine.marked = machine.marked || !machine.joins
	}
}

// stale reports whether the API server has other Machines than the cache, or a different version of
// the one that the decision is about.
func (w *world) stale(next Decision) bool {
	same := func(a, b *worldMachine) bool {
		if next.Machine == a.name {
			return a.object() == b.object()
		}
		return a.name == b.name && a.deleting == b.deleting && a.hooked == b.hooked
	}
	return !slices.EqualFunc(w.visible(), w.machines, same)
}

// object returns what the API server stores of a Machine. Its health shows only in the workload
// cluster.
func (m *worldMachine) object() worldMachine {
	object := *m
	object.failed, object.crippled, object.unready, object.doomed, object.brokenFor = false, false, false, false, 0
	return object
}

// carryOut does what the controller does. If the controller crashes, it stops after that many
// effects. It reports whether it finished.
func (w *world) carryOut(next Decision, crash int) bool {
	if w.stale(next) {
		w.cached = nil
		return false
	}
	for _, effect := range w.effects(next) {
		if crash == 0 {
			return false
		}
		crash--
		effect()
	}
	if s := w.state(); s.Remediation != nil && len(w.machines) >= s.Target() && w.find(s.Remediation.Machine) == nil {
		w.remediation = nil
	}
	return true
}

// effects splits a decision into its effects. The controller may crash after each of them.
func (w *world) effects(next Decision) []func() {
	remove := func() { w.removeMember(next.Etcd.Leaving.ID) }
	switch next.Action {
	case ActionInitialize, ActionCreate:
		if w.refused {
			return nil
		}
		return []func(){func() { w.create(next) }, func() { w.remediation = nil }}
	case ActionRemediate:
		return []func(){func() { w.remediation = next.Remediation }, func() { w.find(next.Machine).deleting = true }}
	case ActionDelete:
		return []func(){func() { w.find(next.Machine).deleting = true }}
	case ActionRemoveMember:
		return []func(){remove}
	case ActionRelease:
		return []func(){remove, func() { w.find(next.Machine).hooked = false }}
	default:
		return nil
	}
}

func (w *world) create(next Decision) {
	w.created++
	w.machines = append(w.machines, &worldMachine{
		name: fmt.Sprintf("m%d", w.created), hooked: true, version: w.version, config: w.config, release: w.release, joins: next.Action == ActionCreate,
		created: w.now, domain: next.FailureDomain, replacement: next.Remediation, madeUnder: w.confirmed,
	})
}

// fallBehind makes the cache show the current Machines until it catches up.
func (w *world) fallBehind() {
	w.cached = nil
	cached := make([]*worldMachine, 0, len(w.machines))
	for _, machine := range w.machines {
		copied := *machine
		cached = append(cached, &copied)
	}
	w.cached = cached
}

// restart makes the manager forget what it remembers.
func (w *world) restart() { w.seen, w.cached = newMemory(), nil }

// loseStatus clears the status of all objects, like a restore from a backup. Everything else on
// them stays.
func (w *world) loseStatus() {
	w.statusKnows, w.clusterKnows, w.cached = false, false, nil
	for _, machine := range w.machines {
		machine.nodeRef, machine.flagged = false, false
	}
}

// progress does everybody else's part: Machines join step by step, are drained and deleted, and the
// Cluster learns that it is initialized.
func (w *world) progress() {
	w.now = w.now.Add(time.Minute)
	w.endpoint = true
	for _, machine := range w.machines {
		machine.drained = machine.drained || machine.deleting
		if machine.broken() {
			machine.brokenFor += time.Minute
		}
		// Even a Machine that is being deleted joins until its machine is gone. The provider ID reveals
		// its Node.
		if !machine.failed && machine.hooked {
			w.advance(machine)
		}
		// In the worst case, its machine is deleted just after it has become a member, unless it has
		// failed to join for long.
		if !machine.failed && !machine.hooked && machine.stage == booting && w.now.Sub(machine.upSince) < orphanGrace {
			w.advance(machine)
			w.advance(machine)
		}
	}
	for _, machine := range w.machines {
		if machine.deleting && !machine.hooked {
			w.vanish(machine)
		}
	}
	w.clusterKnows = w.clusterKnows || w.statusKnows
	for _, machine := range w.machines {
		machine.nodeRef = machine.nodeRef || machine.stage == joined && !w.blind && w.answers()
	}
}

func (w *world) advance(machine *worldMachine) {
	switch machine.stage {
	case starting:
		machine.slow--
		if machine.slow < 0 {
			machine.stage, machine.upSince = booting, w.now
		}
	case booting:
		if w.external {
			w.joinAlone(machine)
			return
		}
		if !machine.joins {
			// It does not join an etcd that existed before.
			w.members = nil
		}
		// etcd accepts no new member while an existing one is down.
		if slices.ContainsFunc(w.members, func(member *worldMember) bool { return !member.alive() }) {
			return
		}
		w.nextID++
		w.members = append(w.members, &worldMember{id: w.nextID, learner: machine.joins, added: w.now, machine: machine})
		if machine.joins {
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

// joinAlone lets a Machine without etcd join.
func (w *world) joinAlone(machine *worldMachine) {
	if !machine.joins || w.answers() {
		w.initialized = true
		machine.stage = voting
	}
}

// vanish removes a Machine with its instance. Its member, if any, stays behind.
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
	// The controller observes the end of a failure.
	w.state()
}

// checkHealth plays a MachineHealthCheck.
func (w *world) checkHealth() {
	for _, machine := range w.machines {
		machine.flagged = machine.broken()
	}
}

// settled reports whether nothing is left to do.
func (w *world) settled(next Decision) bool {
	upToDate := func(m Machine) bool { return len(m.Outdated) == 0 && m.Joined() }
	return next.Action == ActionNone && len(w.machines) == w.desired && (w.external || len(w.members) == w.desired) &&
		len(Filter(w.state().Machines, upToDate)) == w.desired
}

// newestVersion is the newest version among the control plane's Machines.
func (w *world) newestVersion() string {
	newest := w.version
	for _, machine := range w.machines {
		if machine.stage == joined && compareVersions(machine.version, newest) > 0 {
			newest = machine.version
		}
	}
	return newest
}

// memory is what a manager remembers until it restarts.
type memory struct {
	broken, provisioned map[string]time.Time
	strays              map[uint64]time.Time
}

func newMemory() *memory {
	return &memory{broken: map[string]time.Time{}, provisioned: map[string]time.Time{}, strays: map[uint64]time.Time{}}
}

// since drops keys that are no longer current, records new ones, and returns since when each has
// been current.
func since[K comparable](known map[K]time.Time, now time.Time, current []K) map[K]time.Time {
	maps.DeleteFunc(known, func(key K, _ time.Time) bool { return !slices.Contains(current, key) })
	for _, key := range current {
		if _, ok := known[key]; !ok {
			known[key] = now
		}
	}
	return maps.Clone(known)
}

func strayIDs(s State) []uint64 {
	var ids []uint64
	for _, member := range s.Strays() {
		ids = append(ids, member.ID)
	}
	return ids
}

func compareVersions(a, b string) int {
	return semver.MustParse(a[1:]).Compare(semver.MustParse(b[1:]))
}
