// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/collections"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

// maxMessage is the longest message that the status may hold, in bytes.
const maxMessage = 32768

// outcome is the result of a reconcile.
type outcome struct {
	// state that the decision was made from.
	state plan.State
	next  plan.Decision
	// failure is why something could not be done; nil if nothing failed.
	failure error
}

// setStatus writes all that was observed and decided into the status. Only the Paused and
// AddonsUpToDate conditions are set elsewhere.
func (s *scope) setStatus(result outcome) {
	status := &s.controlPlane.Status
	if result.failure == nil {
		status.ObservedGeneration = s.controlPlane.Generation
	}
	status.Selector = collections.ControlPlaneSelectorForCluster(s.cluster.Name).String()
	status.Replicas = count(s.machines, func(*clusterv1.Machine) bool { return true })
	status.ReadyReplicas = count(s.machines, hasTrue(clusterv1.MachineReadyCondition))
	status.AvailableReplicas = count(s.machines, hasTrue(clusterv1.MachineAvailableCondition))
	status.UpToDateReplicas = count(s.machines, func(machine *clusterv1.Machine) bool {
		return s.upToDateCondition(machine).Status == metav1.ConditionTrue
	})
	status.Versions = versions(s.machines)
	status.Version = ""
	if len(status.Versions) > 0 {
		status.Version = status.Versions[0].Version
	}
	if s.initialized {
		status.Initialization.ControlPlaneInitialized = ptr.To(true)
	}
	status.LastRemediation = s.lastRemediation(result)
	status.Plan = controlplanev1.FooControlPlanePlanStatus{
		Action:  string(result.next.Action),
		Machine: result.next.Machine,
		Reason:  result.next.Reason,
		Message: result.next.Message[:min(len(result.next.Message), maxMessage)],
	}
	status.Etcd = s.etcdStatus(result.state)
	s.forgetRemediation(result)
	s.setConditions(result)
}

func count(machines []*clusterv1.Machine, is func(*clusterv1.Machine) bool) *int32 {
	var number int32
	for _, machine := range machines {
		if is(machine) {
			number++
		}
	}
	return ptr.To(number)
}

func hasTrue(conditionType string) func(*clusterv1.Machine) bool {
	return func(machine *clusterv1.Machine) bool { return conditions.IsTrue(machine, conditionType) }
}

// versions counts the Machines per version, oldest version first.
func versions(machines []*clusterv1.Machine) []clusterv1.StatusVersion {
	var result []clusterv1.StatusVersion
	for _, machine := range machines {
		index := slices.IndexFunc(result, func(version clusterv1.StatusVersion) bool { return version.Version == machine.Spec.Version })
		switch {
		case machine.Spec.Version == "":
		case index >= 0:
			result[index].Replicas++
		default:
			result = append(result, clusterv1.StatusVersion{Version: machine.Spec.Version, Replicas: 1})
		}
	}
	slices.SortFunc(result, func(a, b clusterv1.StatusVersion) int { return compareVersions(a.Version, b.Version) })
	return result
}

// compareVersions orders invalid versions by name.
func compareVersions(a, b string) int {
	first, errFirst := semver.ParseTolerant(a)
	second, errSecond := semver.ParseTolerant(b)
	if errFirst != nil || errSecond != nil {
		return cmp.Compare(a, b)
	}
	return first.Compare(second)
}

// etcdStatus shows the votes that the decision was based on. While etcd cannot be asked, the last
// known values stay for as long as the conditions do.
func (s *scope) etcdStatus(seen plan.State) controlplanev1.FooControlPlaneEtcdStatus {
	if !seen.EtcdManaged {
		return controlplanev1.FooControlPlaneEtcdStatus{}
	}
	if seen.EtcdUnknown() != "" {
		if s.stillShown() {
			return s.controlPlane.Status.Etcd
		}
		return controlplanev1.FooControlPlaneEtcdStatus{}
	}
	all := seen.Votes()
	result := controlplanev1.FooControlPlaneEtcdStatus{
		Voters:   ptr.To(int32(all.Voters)),
		Learners: ptr.To(int32(all.Learners)),
		Healthy:  ptr.To(int32(all.Healthy)),
		Quorum:   ptr.To(int32(all.Quorum())),
	}
	for _, member := range seen.Etcd.Members {
		if member.ID == seen.Etcd.Leader {
			result.Leader = member.Name
		}
		for _, alarm := range member.Alarms {
			result.Alarms = append(result.Alarms, member.String()+": "+alarm)
		}
	}
	slices.Sort(result.Alarms)
	return result
}

// lastRemediation is the latest known remediation.
func (s *scope) lastRemediation(result outcome) controlplanev1.LastRemediationStatus {
	latest := s.controlPlane.Status.LastRemediation
	known := []*plan.Remediation{result.state.Remediation}
	if result.next.Action == plan.ActionRemediate && result.failure == nil {
		known = append(known, result.next.Remediation)
	}
	for _, machine := range result.state.Machines {
		known = append(known, machine.ReplacementFor)
	}
	for _, record := range known {
		if record != nil && !record.Timestamp.Time.Before(latest.Time.Time) {
			latest = controlplanev1.LastRemediationStatus{
				Machine: record.Machine, Time: record.Timestamp, RetryCount: ptr.To(record.RetryCount),
			}
		}
	}
	return latest
}

// forgetRemediation drops the record of a remediation that no longer needs a replacement. A Machine
// that is still to be remediated keeps it: its deletion may not be in the cache yet.
func (s *scope) forgetRemediation(result outcome) {
	seen := result.state
	wanted := seen.Remediation != nil && (len(seen.Machines) < seen.Target() ||
		slices.ContainsFunc(seen.Machines, func(m plan.Machine) bool { return m.Name == seen.Remediation.Machine }))
	record := parseRemediation(s.controlPlane.Annotations[controlplanev1.RemediationInProgressAnnotation])
	marked := slices.ContainsFunc(seen.Machines, func(m plan.Machine) bool {
		return record != nil && m.Name == record.Machine && m.Remediate && !m.Deleting
	})
	if !wanted && !marked {
		delete(s.controlPlane.Annotations, controlplanev1.RemediationInProgressAnnotation)
	}
}

// announce emits one event for what was done or for what failed. Waiting emits none: the conditions
// show it.
func announce(recorder events.EventRecorder, controlPlane *controlplanev1.FooControlPlane, next plan.Decision, failure error) {
	idle := !next.Acts()
	switch {
	case failure != nil && idle:
		recorder.Eventf(controlPlane, nil, corev1.EventTypeWarning, "ReconcileFailed", "Reconcile", "%s", report.Note(failure.Error()))
	case failure != nil:
		recorder.Eventf(controlPlane, nil, corev1.EventTypeWarning, next.Reason+"Failed", string(next.Action), "%s", report.Note(next.Message+": "+failure.Error()))
	case !idle && next.Action != plan.ActionFinish:
		recorder.Eventf(controlPlane, nil, corev1.EventTypeNormal, next.Reason, string(next.Action), "%s", report.Note(next.Message))
	}
}
