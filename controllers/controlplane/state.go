// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/collections"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// state reduces what was observed to what a decision depends on. It is called once per reconcile.
func (s *scope) state() plan.State {
	result := s.current()
	s.noteProvisioned(result.Machines)
	if s.observation == nil {
		if s.workloadLooked {
			s.memory.noteBroken(s.now, nil)
		}
		return result
	}
	s.memory.noteStrays(s.now, result.Strays())
	s.memory.noteBroken(s.now, result.Broken())
	result.StraySince = s.memory.strays
	for i := range result.Machines {
		result.Machines[i].BrokenSince = s.memory.broken[result.Machines[i].Name]
	}
	return result
}

// noteProvisioned records since when each Machine's infrastructure has been up.
func (s *scope) noteProvisioned(machines []plan.Machine) {
	var up []string
	for _, machine := range s.machines {
		if s.provisioned(machine) {
			up = append(up, machine.Name)
		}
	}
	s.memory.provisioned = since(s.memory.provisioned, s.now, up)
	for i := range machines {
		machines[i].ProvisionedSince = s.memory.provisioned[machines[i].Name]
	}
}

// current is the state without memory of earlier reconciles.
func (s *scope) current() plan.State {
	surge := ptr.Deref(s.controlPlane.Spec.Rollout.Strategy.RollingUpdate.MaxSurge, intstr.FromInt32(1))
	result := plan.State{
		Now:                 s.now,
		Deleting:            s.deleting(),
		Workers:             s.workers,
		Desired:             s.desired(),
		MaxSurge:            surge.IntValue(),
		Version:             s.controlPlane.Spec.Version,
		EtcdManaged:         s.etcdMode() == workload.EtcdStacked,
		Confirmed:           s.controlPlane.Annotations[controlplanev1.ConfirmRolloutAnnotation],
		Digest:              s.madeFrom.Outcome,
		Awaited:             s.awaitedVersion(),
		PrerequisiteProblem: s.prerequisites.first(),
		PlacementKnown:      s.placementKnown(),
		TemplateProblem:     s.templateProblem,
		Initialized:         s.initialized,
		ClusterInitialized:  clusterInitialized(s.cluster),
		Foreign:             s.foreign,
		Adoptable:           names(s.adoptable),
		WorkloadProblem:     s.workloadProblem,
		Retries:             s.retryLimits(),
		Remediation:         s.remediationInProgress(),
	}
	for _, domain := range s.failureDomains() {
		result.FailureDomains = append(result.FailureDomains, domain.Name)
	}
	slices.Sort(result.FailureDomains)
	if s.observation != nil {
		result.Etcd = newEtcd(s.observation.Etcd)
	}
	for _, machine := range s.machines {
		result.Machines = append(result.Machines, s.machineState(machine))
	}
	return result
}

func (f prerequisites) first() plan.Problem {
	return ptr.Deref(cmp.Or(f.spec, f.certificates, f.kubeconfig), plan.Problem{})
}

// awaitedVersion is the version that the Cluster's topology has yet to set on this control plane.
// In a multi-step upgrade, the topology sets one step after the other.
func (s *scope) awaitedVersion() string {
	if !s.cluster.Spec.Topology.IsDefined() {
		return ""
	}
	awaited := s.cluster.Spec.Topology.Version
	if step := s.cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation]; step != "" {
		awaited = step
	}
	if own := s.controlPlane.Spec.Version; own == awaited || own == s.cluster.Spec.Topology.Version {
		return ""
	}
	return awaited
}

func (s *scope) retryLimits() plan.RetryLimits {
	spec := s.controlPlane.Spec.Remediation
	seconds := func(value *int32, otherwise int32) time.Duration {
		return time.Duration(ptr.Deref(value, otherwise)) * time.Second
	}
	return plan.RetryLimits{
		MaxRetry:   spec.MaxRetry,
		Period:     seconds(spec.RetryPeriodSeconds, 0),
		MinHealthy: seconds(spec.MinHealthyPeriodSeconds, controlplanev1.DefaultMinHealthyPeriodSeconds),
	}
}

// remediationInProgress reads the remediation that still needs a replacement. If a Machine already
// replaces it, the manager was stopped before it could remove the record.
func (s *scope) remediationInProgress() *plan.Remediation {
	record := parseRemediation(s.controlPlane.Annotations[controlplanev1.RemediationInProgressAnnotation])
	if record == nil {
		return nil
	}
	for _, machine := range s.machines {
		made := parseRemediation(machine.Annotations[controlplanev1.RemediationForAnnotation])
		if made != nil && made.Machine == record.Machine && made.Timestamp.Equal(&record.Timestamp) {
			return nil
		}
		if machine.Name == record.Machine && machine.DeletionTimestamp.IsZero() {
			return nil
		}
	}
	return record
}

// parseRemediation returns nil if there is no valid record; counting then starts again.
func parseRemediation(value string) *plan.Remediation {
	record := &plan.Remediation{}
	if err := json.Unmarshal([]byte(value), record); err != nil || record.Machine == "" {
		return nil
	}
	return record
}

func (s *scope) machineState(machine *clusterv1.Machine) plan.Machine {
	made, _ := recorded(machine)
	_, marked := machine.Annotations[clusterv1.DeleteMachineAnnotation]
	return plan.Machine{
		Name:             machine.Name,
		Node:             s.nodeName(machine),
		Unlinked:         !machine.Status.NodeRef.IsDefined(),
		Created:          machine.CreationTimestamp.Time,
		FailureDomain:    machine.Spec.FailureDomain,
		Version:          machine.Spec.Version,
		Deleting:         !machine.DeletionTimestamp.IsZero(),
		Hooked:           hooked(machine),
		AtHook:           atHook(machine),
		Unhealthy:        s.unhealthy(machine),
		NodeNotReady:     s.nodeNotReady(machine),
		Outdated:         s.differences[machine.Name],
		MadeUnder:        made.Confirmed,
		Marked:           marked,
		Remediate:        collections.IsUnhealthyAndOwnerRemediated(machine),
		RemediationAsked: annotations.HasRemediateMachine(machine),
		ReplacementFor:   parseRemediation(machine.Annotations[controlplanev1.RemediationForAnnotation]),
	}
}

// nodeName is the name of the Machine's Node. Until Cluster API has set it, the provider ID
// identifies the Node, so that the vote of a Machine that has just joined is not overlooked.
func (s *scope) nodeName(machine *clusterv1.Machine) string {
	if machine.Status.NodeRef.Name != "" || s.observation == nil {
		return machine.Status.NodeRef.Name
	}
	id := machine.Spec.ProviderID
	if object, ok := s.infraMachines[machine.Name]; ok && id == "" {
		id, _, _ = unstructured.NestedString(object.Object, "spec", "providerID")
	}
	for _, node := range s.observation.Nodes {
		if id != "" && node.ProviderID == id {
			return node.Name
		}
	}
	return ""
}

// atHook reports whether Cluster API has drained the Machine and only our hook is left.
func atHook(machine *clusterv1.Machine) bool {
	for key := range machine.Annotations {
		if strings.HasPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix) && key != controlplanev1.PreTerminateHookCleanupAnnotation {
			return false
		}
	}
	condition := conditions.Get(machine, clusterv1.MachineDeletingCondition)
	return condition != nil && condition.Reason == clusterv1.MachineDeletingWaitingForPreTerminateHookReason
}

// unhealthy lists what is wrong with a Machine's components. It does not require a ready Node: no
// Node is ready before the cluster's network is installed, and the control plane must scale up even
// then.
func (s *scope) unhealthy(machine *clusterv1.Machine) []string {
	if s.observation == nil {
		return []string{"it could not be observed"}
	}
	name := s.nodeName(machine)
	if name == "" {
		return []string{"it has no Node yet"}
	}
	node, ok := s.observation.Node(name)
	if !ok {
		return []string{"its Node " + name + " is not among the control plane's Nodes"}
	}
	var problems []string
	for _, component := range workload.Components(s.etcdMode()) {
		if pod := node.Pods[component]; pod.State != workload.PodRunning {
			problems = append(problems, string(component)+": "+pod.Message)
		}
	}
	return problems
}

func (s *scope) nodeNotReady(machine *clusterv1.Machine) bool {
	if s.observation == nil {
		return false
	}
	node, ok := s.observation.Node(s.nodeName(machine))
	return ok && !node.Ready
}

// newEtcd copies what etcd reports, without the parts of errors that change each time.
func newEtcd(observed workload.EtcdState) plan.Etcd {
	result := plan.Etcd{Leader: observed.Leader, Problem: steady(observed.Problem)}
	for _, member := range observed.Members {
		member.Problem = steady(member.Problem)
		result.Members = append(result.Members, plan.Member(member))
	}
	return result
}

func names(machines []*clusterv1.Machine) []string {
	result := make([]string, 0, len(machines))
	for _, machine := range machines {
		result = append(result, machine.Name)
	}
	return result
}

// initTimeout is how long kubeadm init may take after the Machine was created. Until then, only the
// API server says whether the control plane is initialized.
const initTimeout = 5 * time.Minute

// evidence collects what may prove that the control plane has been initialized, whatever its API
// server says.
func (s *scope) evidence() plan.Evidence {
	result := plan.Evidence{
		Status:   ptr.Deref(s.controlPlane.Status.Initialization.ControlPlaneInitialized, false),
		Cluster:  clusterInitialized(s.cluster),
		Machines: len(s.machines),
	}
	for _, machine := range s.machines {
		_, marked := machine.Annotations[controlplanev1.InitializedAnnotation]
		result.Marked = result.Marked || marked
		result.Joining = result.Joining || s.joins(machine)
	}
	return result
}

// hasOldNode reports whether the Machine has a Node that proves something while the API server does
// not answer. kubeadm init registers the Node of a new Machine before other machines can join.
func (s *scope) hasOldNode(machine *clusterv1.Machine) bool {
	return machine.Status.NodeRef.IsDefined() && machine.DeletionTimestamp.IsZero() && s.now.Sub(machine.CreationTimestamp.Time) > initTimeout
}

// joins reports whether the Machine was made to join.
func (s *scope) joins(machine *clusterv1.Machine) bool {
	config, ok := s.configs[machine.Name]
	return ok && config.Spec.JoinConfiguration.ControlPlane != nil
}

// localAddress matches the local end of a connection in an error, whose port differs each time.
var localAddress = regexp.MustCompile(`\S+:\d+->`)

// steady removes the parts of an error that differ each time, so that the status is not written
// again and again.
func steady(text string) string { return localAddress.ReplaceAllString(text, "") }

// steadyError is an error whose text stays the same while the cause does.
type steadyError struct{ error }

// Error implements error.
func (e steadyError) Error() string { return steady(e.error.Error()) }

func (e steadyError) Unwrap() error { return e.error }

func steadied(failure error) error {
	if failure == nil {
		return nil
	}
	return steadyError{failure}
}
