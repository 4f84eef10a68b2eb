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
	"cmp"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/collections"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// outcome is what a reconcile has come to.
type outcome struct {
	// state that the decision was made from.
	state state
	// next is the decision.
	next decision
	// failure is why something could not be done; nil if nothing failed.
	failure error
}

// setStatus writes into the status all that was seen and decided. Nothing else writes into it, but for the Paused condition.
//
//contract:control-plane/replicas
//contract:control-plane/version
func (s *scope) setStatus(result outcome) {
	status := &s.controlPlane.Status
	status.Selector = collections.ControlPlaneSelectorForCluster(s.cluster.Name).String()
	status.Replicas = count(s.machines, func(*clusterv1.Machine) bool { return true })
	status.ReadyReplicas = count(s.machines, hasTrue(clusterv1.MachineReadyCondition))
	status.AvailableReplicas = count(s.machines, hasTrue(clusterv1.MachineAvailableCondition))
	status.UpToDateReplicas = count(s.machines, func(machine *clusterv1.Machine) bool { return len(s.differences[machine.Name]) == 0 })
	status.Versions = versions(s.machines)
	status.Version = ""
	if len(status.Versions) > 0 {
		status.Version = status.Versions[0].Version
	}
	if s.initialized {
		status.Initialization.ControlPlaneInitialized = ptr.To(true)
	}
	status.LastRemediation = s.lastRemediation(result)
	status.Plan = planStatus(result)
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

// versions counts the Machines of each version, oldest version first.
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

// compareVersions puts what is no version first, by name.
func compareVersions(a, b string) int {
	first, errFirst := semver.ParseTolerant(a)
	second, errSecond := semver.ParseTolerant(b)
	if errFirst != nil || errSecond != nil {
		return cmp.Compare(a, b)
	}
	return first.Compare(second)
}
