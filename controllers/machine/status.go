// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// ownedConditions are the conditions that only this controller sets.
var ownedConditions = []string{
	infrav1.FooMachineReadyCondition,
	infrav1.FooMachineInstanceProvisionedCondition,
	infrav1.FooMachineBootstrapExecSucceededCondition,
	infrav1.DeletingCondition,
}

// eventKinds maps the reasons that are worth an event to the event's type.
var eventKinds = cloudfault.EventKinds(report.Kinds{
	infrav1.FooMachineInstancePendingReason:     corev1.EventTypeNormal,
	infrav1.FooMachineInstanceProvisionedReason: corev1.EventTypeNormal,
	infrav1.FooMachineBootstrapSucceededReason:  corev1.EventTypeNormal,
	infrav1.DeletingReason:                      corev1.EventTypeNormal,
	infrav1.FooMachineInstanceStoppedReason:     corev1.EventTypeWarning,
	infrav1.FooMachineInstanceFailedReason:      corev1.EventTypeWarning,
	infrav1.FooMachineInstanceNotFoundReason:    corev1.EventTypeWarning,
	infrav1.FooMachineBootstrapFailedReason:     corev1.EventTypeWarning,
	infrav1.FooMachineReclaimNoticeReason:       corev1.EventTypeWarning,
})

// setStatus sets the whole status, including every condition.
func setStatus(s *state, o outcome) {
	status := &s.fooMachine.Status
	status.ObservedGeneration = s.fooMachine.Generation
	setInstance(status, o.instance)

	provisioned, bootstrap, deleting := provisionedCondition(s, o), bootstrapCondition(o), deletingCondition(s, o)
	ready := readyCondition(s, o, provisioned, bootstrap)
	for _, c := range []metav1.Condition{provisioned, bootstrap, deleting, ready} {
		conditions.Set(s.fooMachine, c)
	}
	// Never set it back to false: Cluster API uses it to order the initial provisioning, and Ready
	// reports what happens later.
	if provisioned.Status == metav1.ConditionTrue {
		status.Initialization.Provisioned = ptr.To(true)
	}
}

// setInstance keeps the last known state of an instance that is lost or cannot be queried.
func setInstance(status *infrav1.FooMachineStatus, instance *cloud.Instance) {
	if instance == nil {
		return
	}
	status.InstanceID = instance.ID
	status.InstanceState = infrav1.InstanceState(instance.State)
	status.InstanceType = instance.Type
	status.BootstrapState = infrav1.BootstrapState(instance.Bootstrap.State)
	status.FailureDomain = instance.Zone
	status.Interruptible = nil
	if instance.Interruptible {
		status.Interruptible = ptr.To(true)
	}
	status.Addresses = ownertags.Addresses(*instance)
}

func provisionedCondition(s *state, o outcome) metav1.Condition {
	c := metav1.Condition{Type: infrav1.FooMachineInstanceProvisionedCondition, Status: metav1.ConditionFalse}
	switch {
	case !o.fault.IsZero():
		c.Reason, c.Message = o.fault.Reason, o.fault.Message
		// An instance that was ordered may run. If this were false, a MachineHealthCheck of the
		// Machine's InfrastructureReady condition would replace all Machines of a cloud that does
		// not answer.
		if s.fooMachine.Spec.ProviderID != "" {
			c.Status = metav1.ConditionUnknown
		}
	case o.lost && s.unwanted():
		c.Reason = infrav1.FooMachineInstanceDeletingReason
	case o.lost:
		c.Reason = infrav1.FooMachineInstanceNotFoundReason
		c.Message = fmt.Sprintf("The cloud no longer has the instance %s; it will not be recreated", s.fooMachine.Spec.ProviderID)
	case o.instance != nil:
		setInstanceReason(&c, o.instance)
	case s.deleting():
		c.Reason = infrav1.FooMachineInstanceDeletingReason
	default:
		c.Reason, c.Message = o.wait.reason, o.wait.message
	}
	return c
}

func setInstanceReason(c *metav1.Condition, instance *cloud.Instance) {
	c.Message = instance.Message
	switch instance.State {
	case cloud.InstancePending:
		c.Reason, c.Message = infrav1.FooMachineInstancePendingReason, cmp.Or(instance.Message, "The cloud is creating the instance")
		if fault := cloudfault.OfProblem(instance.Problem); !fault.IsZero() {
			c.Reason, c.Message = fault.Reason, fault.Message
		}
	case cloud.InstanceStopped:
		c.Reason = infrav1.FooMachineInstanceStoppedReason
	case cloud.InstanceFailed:
		c.Reason = infrav1.FooMachineInstanceFailedReason
	case cloud.InstanceDeleting:
		c.Reason = infrav1.FooMachineInstanceDeletingReason
	case cloud.InstanceRunning:
		if instance.Address == "" {
			c.Reason, c.Message = infrav1.FooMachineInstancePendingReason, "The instance has no address yet"
			return
		}
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooMachineInstanceProvisionedReason
	}
}

// bootstrapCondition is Unknown if the instance is lost or cannot be queried.
func bootstrapCondition(o outcome) metav1.Condition {
	c := metav1.Condition{
		Type: infrav1.FooMachineBootstrapExecSucceededCondition, Status: metav1.ConditionFalse,
		Reason: infrav1.FooMachineBootstrapPendingReason,
	}
	switch {
	case o.instance != nil:
	case !o.fault.IsZero():
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, o.fault.Reason, o.fault.Message
		return c
	case o.lost:
		c.Status, c.Reason = metav1.ConditionUnknown, infrav1.FooMachineInstanceNotFoundReason
		return c
	default:
		return c
	}
	c.Message = o.instance.Bootstrap.Message
	switch o.instance.Bootstrap.State {
	case cloud.BootstrapPending:
	case cloud.BootstrapRunning:
		c.Reason = infrav1.FooMachineBootstrapRunningReason
	case cloud.BootstrapSucceeded:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooMachineBootstrapSucceededReason
	case cloud.BootstrapFailed:
		c.Reason = infrav1.FooMachineBootstrapFailedReason
	}
	return c
}

// readyCondition considers the bootstrap only if it failed: until then the Machine waits for the
// instance, and its Node reports the rest. An instance that the cloud will reclaim is no longer
// ready, so that its Machine can be replaced in time.
func readyCondition(s *state, o outcome, provisioned, bootstrap metav1.Condition) metav1.Condition {
	if s.deleting() {
		return metav1.Condition{
			Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.FooMachineDeletingReason,
		}
	}
	if bootstrap.Reason == infrav1.FooMachineBootstrapFailedReason {
		return report.Ready(provisioned, bootstrap)
	}
	if provisioned.Status == metav1.ConditionTrue && o.instance != nil && o.instance.ReclaimAt != nil {
		return metav1.Condition{
			Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.FooMachineReclaimNoticeReason,
			Message: "The cloud will reclaim the instance at " + o.instance.ReclaimAt.UTC().Format(time.RFC3339),
		}
	}
	return report.Ready(provisioned)
}

func deletingCondition(s *state, o outcome) metav1.Condition {
	c := metav1.Condition{Type: infrav1.DeletingCondition, Status: metav1.ConditionTrue, Reason: infrav1.DeletingReason}
	switch {
	case !s.deleting():
		c.Status, c.Reason = metav1.ConditionFalse, infrav1.NotDeletingReason
	case o.gone:
		c.Reason = infrav1.DeletionCompletedReason
	case !o.fault.IsZero():
		c.Message = "The instance cannot be deleted: " + o.fault.Message
	default:
		c.Message = "Waiting for the instance to be deleted"
	}
	return c
}
