// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// Remediation is the record of one remediation, as stored in annotations.
type Remediation struct {
	// Machine that was remediated.
	Machine string `json:"machine"`
	// Timestamp is when the Machine was remediated.
	Timestamp metav1.Time `json:"timestamp"`
	// RetryCount is how many replacements in a row failed before.
	RetryCount int32 `json:"retryCount"`
}

// RetryLimits are the limits of spec.remediation.
type RetryLimits struct {
	// MaxRetry is how often to retry; nil means no limit.
	MaxRetry *int32
	// Period is how long to wait between two retries.
	Period time.Duration
	// MinHealthy is how long after a remediation a failure counts as a new one and not as a retry.
	MinHealthy time.Duration
}

// remediate replaces unhealthy Machines, the worst first. If none can be replaced now, later rules
// still run, since they may be what makes it possible.
func remediate(s State) (Decision, bool) {
	candidates := Filter(s.Machines, func(m Machine) bool { return m.Remediate && !m.Deleting })
	if len(candidates) == 0 {
		return Decision{}, false
	}
	slices.SortStableFunc(candidates, s.worseFirst)
	var refused Decision
	for _, machine := range candidates {
		next := s.remediation(machine)
		if next.Acts() {
			return next, true
		}
		if refused.Action == "" {
			refused = next
		}
	}
	return refused, false
}

// withRemediations adds to a decision what happens now to each Machine that is to be remediated.
func (s State) withRemediations(next Decision) Decision {
	next.Unhealthy = map[string]Problem{}
	for _, machine := range Filter(s.Machines, func(m Machine) bool { return m.Remediate }) {
		own := s.remediation(machine)
		switch {
		case machine.Deleting || next.Action == ActionRemediate && next.Machine == machine.Name:
			next.Unhealthy[machine.Name] = Problem{controlplanev1.MachineRemediationMachineDeletingReason, "the Machine is being deleted"}
		case !own.Acts():
			next.Unhealthy[machine.Name] = Problem{own.Reason, own.Message}
		default:
			next.Unhealthy[machine.Name] = Problem{
				controlplanev1.MachineRemediationDeferredReason,
				fmt.Sprintf("Machine %s waits for something else first (%s): %s", machine.Name, next.Reason, next.Message),
			}
		}
	}
	return next
}

// worseFirst puts Machines first that the user asked to remediate, then those without a Node,
// without a working etcd member, and without healthy components.
func (s State) worseFirst(a, b Machine) int {
	rank := func(m Machine) int {
		member, ok := s.Etcd.Member(m.Node)
		switch {
		case m.RemediationAsked:
			return -1
		case !m.Joined():
			return 0
		case s.EtcdManaged && (!ok || member.Trouble() != ""):
			return 1
		case !m.Healthy():
			return 2
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
}

func cannot(machine Machine, format string, arguments ...any) Decision {
	next := wait(controlplanev1.MachineCannotBeRemediatedReason, format, arguments...)
	next.Machine = machine.Name
	return next
}

func deferred(machine Machine, format string, arguments ...any) Decision {
	next := wait(controlplanev1.MachineRemediationDeferredReason, format, arguments...)
	next.Machine = machine.Name
	return next
}

// remediation plans the remediation of one Machine, or says why it must not happen.
func (s State) remediation(machine Machine) Decision {
	if problem := s.creationProblem(); problem.Exists() {
		return deferred(machine, "Machine %s is kept, since its replacement could not be created: %s", machine.Name, problem.Message)
	}
	record, blocked := s.retry(machine)
	if blocked.Action != "" {
		return blocked
	}
	// If several Machines are deleted before the first replacement, keep the highest retry count.
	if pending := s.Remediation; pending != nil && len(s.Machines) < s.Target() && pending.RetryCount > record.RetryCount {
		record = *pending
	}
	next := Decision{
		Action: ActionRemediate, Reason: reasonRemediating, Machine: machine.Name, Remediation: &record,
		Message: fmt.Sprintf("deleting Machine %s, which is not healthy, to replace it", machine.Name),
	}
	if !s.Initialized && !machine.Joined() {
		return next
	}
	for _, check := range []func(Machine) Decision{unlinked, s.othersMoving, s.nobodyElse, s.etcdUnfit} {
		if blocked := check(machine); blocked.Action != "" {
			return blocked
		}
	}
	change, problem := s.departure(machine)
	if problem != "" {
		return cannot(machine, "Machine %s is kept: %s", machine.Name, problem)
	}
	next.Etcd = change
	return next
}

// unlinked keeps a healthy Machine until Cluster API has linked it to its Node, which may take a
// while after the Machine's status was lost. Until then a MachineHealthCheck finds it unhealthy for
// lack of a Node, and deleting it would leave the Node behind.
func unlinked(machine Machine) Decision {
	if machine.Unlinked && machine.works() && !machine.RemediationAsked {
		return deferred(machine, "Machine %s is kept until Cluster API has linked it to its Node %s, which is healthy", machine.Name, machine.Node)
	}
	return Decision{}
}

// othersMoving allows one remediation at a time. Stuck Machines do not count, since this
// remediation may be what frees them: a drained Machine that cannot be released, or a replacement
// that cannot join, both because of etcd's quorum.
func (s State) othersMoving(machine Machine) Decision {
	if s.replaceableNow() {
		return deferred(machine, "Machine %s waits until Machine %s has been replaced", machine.Name, s.Remediation.Machine)
	}
	for _, other := range s.Machines {
		switch {
		case other.Name == machine.Name:
		case other.Deleting && (!other.Hooked || !other.AtHook):
			return deferred(machine, "Machine %s waits for the deletion of Machine %s", machine.Name, other.Name)
		case !other.Deleting && !other.Joined() && !other.Remediate && !s.keepsOthersOut(machine):
			return deferred(machine, "Machine %s waits until Machine %s has joined", machine.Name, other.Name)
		}
	}
	return Decision{}
}

// keepsOthersOut reports whether this Machine keeps others from joining: etcd accepts no new member
// while an existing one is down.
func (s State) keepsOthersOut(machine Machine) bool {
	member, ok := s.Etcd.Member(machine.Node)
	return s.EtcdManaged && ok && member.Trouble() != ""
}

// nobodyElse keeps the last working Machine, without which no replacement could join.
func (s State) nobodyElse(machine Machine) Decision {
	if len(s.Machines) == 1 && s.EtcdManaged {
		return cannot(machine, "Machine %s is kept: it is the only one, and the cluster's state would be lost with its etcd member; "+
			"repair the machine, or restore the cluster from a backup", machine.Name)
	}
	if len(s.Machines) == 1 {
		return cannot(machine, "Machine %s is kept: it is the only one, and no replacement could join without its API server; "+
			"repair the machine, or scale up while it works", machine.Name)
	}
	if s.WorkloadProblem != "" {
		return deferred(machine, "Machine %s is kept, since the health of the others is not known: %s", machine.Name, s.WorkloadProblem)
	}
	works := func(m Machine) bool { return m.Name != machine.Name && !m.Deleting && m.works() }
	if !slices.ContainsFunc(s.Machines, works) {
		return cannot(machine, "Machine %s is kept: no other Machine has only healthy components, so a replacement could not join", machine.Name)
	}
	return Decision{}
}

func (s State) etcdUnfit(machine Machine) Decision {
	if !s.EtcdManaged {
		return Decision{}
	}
	if problem := s.EtcdUnknown(); problem != "" {
		return deferred(machine, "Machine %s is kept, since the health of etcd is not known: %s", machine.Name, problem)
	}
	for _, member := range s.Etcd.Members {
		if (member.Learner || member.Name == "") && !s.mayBelong(member, machine) {
			return deferred(machine, "Machine %s waits: %s", machine.Name, member.Trouble())
		}
	}
	return Decision{}
}

// retry counts how often replacements of the same Machine have failed, and says whether another one
// is allowed now.
func (s State) retry(machine Machine) (Remediation, Decision) {
	record := Remediation{Machine: machine.Name, Timestamp: metav1.NewTime(s.Now.Truncate(time.Second))}
	last := machine.ReplacementFor
	if last == nil || !last.Timestamp.Add(s.Retries.MinHealthy).After(s.Now) {
		return record, Decision{}
	}
	if again := last.Timestamp.Add(s.Retries.Period); again.After(s.Now) {
		blocked := deferred(machine, "Machine %s waits until %s, since it is itself a replacement for Machine %s (spec.remediation.retryPeriodSeconds)",
			machine.Name, again.UTC().Format(time.RFC3339), last.Machine)
		blocked.Recheck = again
		return record, blocked
	}
	if s.Retries.MaxRetry != nil && last.RetryCount >= *s.Retries.MaxRetry {
		return record, cannot(machine, "Machine %s is kept: %d replacements in a row have failed (spec.remediation.maxRetry)", machine.Name, last.RetryCount)
	}
	record.RetryCount = last.RetryCount + 1
	return record, Decision{}
}

// replaceableNow reports whether a remediated Machine may be replaced although others are
// unhealthy: no etcd member is down, since etcd would reject a new one, and one Machine works for
// it to join.
func (s State) replaceableNow() bool {
	if s.Remediation == nil || len(s.Machines) >= s.Target() || s.WorkloadProblem != "" || len(s.deletingMachines()) > 0 || len(s.newcomers()) > 0 {
		return false
	}
	if !slices.ContainsFunc(s.Machines, Machine.works) {
		return false
	}
	missed := func(member Member) bool { return member.Trouble() != "" }
	return !s.EtcdManaged || s.EtcdUnknown() == "" && !slices.ContainsFunc(s.Etcd.Members, missed)
}
