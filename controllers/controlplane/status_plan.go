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
	"slices"

	"k8s.io/utils/ptr"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// maxMessage is how long a message in the status may be, in bytes.
const maxMessage = 32768

func planStatus(result outcome) controlplanev1.FooControlPlanePlanStatus {
	next := result.next
	return controlplanev1.FooControlPlanePlanStatus{
		Action:  string(next.Action),
		Machine: next.Machine,
		Reason:  next.Reason,
		Message: next.Message[:min(len(next.Message), maxMessage)],
	}
}

// etcdStatus is the arithmetic of the state that the decision was made from. While etcd can not be asked, what was last
// known stays for as long as the conditions show it.
func (s *scope) etcdStatus(seen state) controlplanev1.FooControlPlaneEtcdStatus {
	if !seen.EtcdManaged {
		return controlplanev1.FooControlPlaneEtcdStatus{}
	}
	if seen.etcdUnknown() != "" {
		if s.stillShown() {
			return s.controlPlane.Status.Etcd
		}
		return controlplanev1.FooControlPlaneEtcdStatus{}
	}
	all := seen.votes(func(workload.Member) bool { return true })
	result := controlplanev1.FooControlPlaneEtcdStatus{
		Voters:   ptr.To(int32(all.voters)),
		Learners: ptr.To(int32(all.learners)),
		Healthy:  ptr.To(int32(all.healthy)),
		Quorum:   ptr.To(int32(all.quorum())),
	}
	for _, member := range seen.Etcd.Members {
		if member.ID == seen.Etcd.Leader {
			result.Leader = member.Name
		}
		for _, alarm := range member.Alarms {
			result.Alarms = append(result.Alarms, describe(member)+": "+alarm)
		}
	}
	slices.Sort(result.Alarms)
	return result
}

// lastRemediation is the latest of those that are known.
func (s *scope) lastRemediation(result outcome) controlplanev1.LastRemediationStatus {
	latest := s.controlPlane.Status.LastRemediation
	known := []*remediation{result.state.Remediation}
	if result.next.Action == actionRemediate && result.failure == nil {
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

// forgetRemediation drops the record of a remediation for which no replacement is to be made any more.
func (s *scope) forgetRemediation(result outcome) {
	seen := result.state
	wanted := seen.Remediation != nil && (len(seen.Machines) < seen.target() ||
		slices.ContainsFunc(seen.Machines, func(m machineState) bool { return m.Name == seen.Remediation.Machine }))
	if !wanted && result.next.Action != actionRemediate {
		delete(s.controlPlane.Annotations, controlplanev1.RemediationInProgressAnnotation)
	}
}
