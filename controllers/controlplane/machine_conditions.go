// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// machineOwnerRemediated is the condition by which a Machine's owner reports its remediation to the
// MachineHealthCheck.
const machineOwnerRemediated = clusterv1.MachineOwnerRemediatedCondition

// controlPlaneRole is the key of the label and the taint that kubeadm sets on control plane Nodes.
const controlPlaneRole = "node-role.kubernetes.io/control-plane"

// podConditions maps static pods to Machine conditions.
var podConditions = map[workload.Component]string{
	workload.APIServer:         controlplanev1.MachineAPIServerPodHealthyCondition,
	workload.ControllerManager: controlplanev1.MachineControllerManagerPodHealthyCondition,
	workload.Scheduler:         controlplanev1.MachineSchedulerPodHealthyCondition,
	workload.Etcd:              controlplanev1.MachineEtcdPodHealthyCondition,
}

// machineConditionTypes are the conditions that this controller owns on Machines.
func machineConditionTypes() []string {
	return []string{
		clusterv1.MachineUpToDateCondition,
		machineOwnerRemediated,
		controlplanev1.MachineAPIServerPodHealthyCondition,
		controlplanev1.MachineControllerManagerPodHealthyCondition,
		controlplanev1.MachineSchedulerPodHealthyCondition,
		controlplanev1.MachineEtcdPodHealthyCondition,
		controlplanev1.MachineEtcdMemberHealthyCondition,
		controlplanev1.MachineNodeKubeadmLabelsAndTaintsSetCondition,
	}
}

// setMachineConditions reports the observed health on each Machine. The Machine's readiness gates
// refer to these conditions. Before the control plane is initialized there is nothing to report,
// and each write would trigger other controllers, some of which reconcile a Machine at most once a
// second.
func (r *Reconciler) setMachineConditions(ctx context.Context, s *scope, result outcome) error {
	remediate := slices.ContainsFunc(result.state.Machines, func(m plan.Machine) bool { return m.Remediate })
	if !s.initialized && !remediate {
		return nil
	}
	var failed []error
	for i, machine := range s.machines {
		helper, err := patch.NewHelper(machine, r.client)
		if err != nil {
			return fmt.Errorf("preparing the patch of Machine %s: %w", machine.Name, err)
		}
		s.setOn(machine, result.state.Machines[i], result)
		err = helper.Patch(ctx, machine, patch.WithOwnedConditions{Conditions: machineConditionTypes()})
		if err = kerrors.FilterOut(err, apierrors.IsNotFound); err != nil {
			failed = append(failed, fmt.Errorf("patching Machine %s: %w", machine.Name, err))
		}
	}
	return errors.Join(failed...)
}

func (s *scope) setOn(machine *clusterv1.Machine, seen plan.Machine, result outcome) {
	recovered := conditions.IsTrue(machine, clusterv1.MachineHealthCheckSucceededCondition)
	switch {
	case seen.Remediate:
		conditions.Set(machine, ownerRemediated(seen, result))
	case recovered && !seen.Deleting && conditions.IsFalse(machine, machineOwnerRemediated):
		conditions.Delete(machine, machineOwnerRemediated)
	}
	if !s.initialized {
		return
	}
	if !s.joins(machine) {
		annotations.AddAnnotations(machine, map[string]string{controlplanev1.InitializedAnnotation: "true"})
	}
	conditions.Set(machine, s.upToDateCondition(machine))
	for _, condition := range s.healthConditions(machine) {
		conditions.Set(machine, condition)
	}
}

func (s *scope) upToDateCondition(machine *clusterv1.Machine) metav1.Condition {
	differences := make([]string, 0, len(s.differences[machine.Name]))
	for _, difference := range s.differences[machine.Name] {
		differences = append(differences, difference.Text)
	}
	if len(differences) > 0 {
		return says(is(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineNotUpToDateReason), "* %s", strings.Join(differences, "\n* "))
	}
	// The kubelet's version is unknown until the Machine has a Node.
	kubelet := ptr.Deref(machine.Status.NodeInfo, corev1.NodeSystemInfo{}).KubeletVersion
	if kubelet != "" && kubelet != machine.Spec.Version {
		return says(is(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineUpToDateUpdatingReason),
			"* The kubelet has version %s, %s required", kubelet, machine.Spec.Version)
	}
	return is(clusterv1.MachineUpToDateCondition, metav1.ConditionTrue, clusterv1.MachineUpToDateReason)
}

// healthConditions are the conditions of the Machine's components.
func (s *scope) healthConditions(machine *clusterv1.Machine) []metav1.Condition {
	result := []metav1.Condition{s.nodeCondition(machine)}
	for _, component := range workload.Components(s.etcdMode()) {
		result = append(result, s.podCondition(machine, component))
	}
	if s.etcdMode() == workload.EtcdStacked {
		result = append(result, s.memberCondition(machine))
	}
	return result
}

func (s *scope) podCondition(machine *clusterv1.Machine, component workload.Component) metav1.Condition {
	condition := metav1.Condition{Type: podConditions[component]}
	if blind, is := s.blind(machine, condition); is {
		return blind
	}
	node, _ := s.observation.Node(s.nodeName(machine))
	pod := node.Pods[component]
	condition = says(condition, "%s", pod.Message)
	switch pod.State {
	case workload.PodRunning:
		condition.Status, condition.Reason = metav1.ConditionTrue, controlplanev1.MachinePodRunningReason
	case workload.PodProvisioning:
		condition.Status, condition.Reason = metav1.ConditionFalse, controlplanev1.MachinePodProvisioningReason
	case workload.PodFailed:
		condition.Status, condition.Reason = metav1.ConditionFalse, controlplanev1.MachinePodFailedReason
	case workload.PodDeleting:
		condition.Status, condition.Reason = metav1.ConditionFalse, controlplanev1.MachineDeletingReason
	case workload.PodMissing:
		condition.Status, condition.Reason = metav1.ConditionFalse, controlplanev1.MachinePodDoesNotExistReason
	default:
		condition.Status, condition.Reason = metav1.ConditionUnknown, controlplanev1.MachineInspectionFailedReason
		condition.Message = "The state of the static pod could not be read"
	}
	return condition
}

// nodeCondition is about the label and the taint that kubeadm sets on a Node.
func (s *scope) nodeCondition(machine *clusterv1.Machine) metav1.Condition {
	condition := metav1.Condition{Type: controlplanev1.MachineNodeKubeadmLabelsAndTaintsSetCondition}
	if blind, is := s.blind(machine, condition); is {
		return blind
	}
	node, _ := s.observation.Node(s.nodeName(machine))
	var missing []string
	if node.Unlabelled {
		missing = append(missing, "label "+controlPlaneRole)
	}
	if node.Untainted && s.tainted(machine) {
		missing = append(missing, "taint "+controlPlaneRole+":"+string(corev1.TaintEffectNoSchedule))
	}
	if len(missing) > 0 {
		return says(is(condition.Type, metav1.ConditionFalse, controlplanev1.MachineNodeKubeadmLabelsAndTaintsNotSetReason),
			"Node %s does not have the %s", node.Name, strings.Join(missing, " and the "))
	}
	return is(condition.Type, metav1.ConditionTrue, controlplanev1.MachineNodeKubeadmLabelsAndTaintsSetReason)
}

// tainted reports whether the Machine's Node needs kubeadm's taint. It does unless the
// configuration lists other taints, or an empty list.
func (s *scope) tainted(machine *clusterv1.Machine) bool {
	is := func(key string, effect corev1.TaintEffect) bool {
		return key == controlPlaneRole && effect == corev1.TaintEffectNoSchedule
	}
	if slices.ContainsFunc(machine.Spec.Taints, func(taint clusterv1.MachineTaint) bool { return is(taint.Key, taint.Effect) }) {
		return true
	}
	config, ok := s.configs[machine.Name]
	if !ok {
		return false
	}
	taints := config.Spec.InitConfiguration.NodeRegistration.Taints
	if config.Spec.JoinConfiguration.ControlPlane != nil {
		taints = config.Spec.JoinConfiguration.NodeRegistration.Taints
	}
	return taints == nil || slices.ContainsFunc(*taints, func(taint corev1.Taint) bool { return is(taint.Key, taint.Effect) })
}

func (s *scope) memberCondition(machine *clusterv1.Machine) metav1.Condition {
	condition := metav1.Condition{Type: controlplanev1.MachineEtcdMemberHealthyCondition}
	if blind, is := s.blind(machine, condition); is {
		return blind
	}
	if s.observation.Etcd.Problem != "" {
		return says(is(condition.Type, metav1.ConditionUnknown, controlplanev1.MachineInspectionFailedReason),
			"etcd could not be queried: %s", steady(s.observation.Etcd.Problem))
	}
	member, ok := s.observation.Etcd.Member(s.nodeName(machine))
	problem := plan.Member(member).Trouble()
	if !ok {
		problem = "etcd has no member for Node " + s.nodeName(machine)
	}
	if problem != "" {
		return says(is(condition.Type, metav1.ConditionFalse, controlplanev1.MachineEtcdMemberNotHealthyReason), "%s", steady(problem))
	}
	return is(condition.Type, metav1.ConditionTrue, controlplanev1.MachineEtcdMemberHealthyReason)
}

// blind returns the condition to set if a Machine's components cannot be observed: the last known
// one while that is recent enough.
func (s *scope) blind(machine *clusterv1.Machine, condition metav1.Condition) (metav1.Condition, bool) {
	unknown := is(condition.Type, metav1.ConditionUnknown, controlplanev1.MachineInspectionFailedReason)
	switch {
	case !machine.DeletionTimestamp.IsZero():
		return says(is(condition.Type, metav1.ConditionFalse, controlplanev1.MachineDeletingReason), "the Machine is being deleted"), true
	case s.stillShown() && conditions.Has(machine, condition.Type):
		return *conditions.Get(machine, condition.Type), true
	case s.observation == nil:
		return says(unknown, "%s", s.workloadProblem), true
	}
	if _, ok := s.observation.Node(s.nodeName(machine)); !ok {
		return says(unknown, "waiting for the Machine's Node"), true
	}
	return condition, false
}
