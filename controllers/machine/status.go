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

package machine

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// ownedConditions are those that nobody else sets.
var ownedConditions = []string{
	infrav1.FooMachineReadyCondition,
	infrav1.FooMachineInstanceProvisionedCondition,
	infrav1.FooMachineBootstrapExecSucceededCondition,
	infrav1.DeletingCondition,
}

// setStatus sets the whole status from the scope, always all conditions.
//
//contract:infra-machine/conditions
//contract:infra-machine/initialization-completed
//contract:infra-machine/terminal-failures
func setStatus(s *scope) {
	status := &s.fooMachine.Status
	status.ObservedGeneration = s.fooMachine.Generation
	setInstance(status, s.instance)

	provisioned, bootstrap, deleting := provisionedCondition(s), bootstrapCondition(s), deletingCondition(s)
	ready := readyCondition(s, provisioned, bootstrap)
	for _, c := range []metav1.Condition{provisioned, bootstrap, deleting, ready} {
		conditions.Set(s.fooMachine, c)
	}
	// Never back to false: Cluster API orders the first provisioning by it, and Ready tells of what comes later.
	if provisioned.Status == metav1.ConditionTrue {
		status.Initialization.Provisioned = ptr.To(true)
	}
}

// setInstance keeps what was last known of an instance that is lost or can not be asked for.
//
//contract:infra-machine/addresses
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
	status.Addresses = []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: instance.Hostname}}
	if instance.Address != "" {
		address := clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: instance.Address}
		status.Addresses = append(status.Addresses, address)
	}
}

func provisionedCondition(s *scope) metav1.Condition {
	c := metav1.Condition{Type: infrav1.FooMachineInstanceProvisionedCondition, Status: metav1.ConditionFalse}
	switch {
	case !s.fault.IsZero():
		c.Reason, c.Message = s.fault.Reason, s.fault.Message
	case s.lost && s.unwanted():
		c.Reason = infrav1.FooMachineInstanceDeletingReason
	case s.lost:
		c.Reason = infrav1.FooMachineInstanceNotFoundReason
		c.Message = fmt.Sprintf("the cloud has no instance %s any more; it is not made again", s.fooMachine.Spec.ProviderID)
	case s.instance != nil:
		setInstanceReason(&c, s.instance)
	case s.deleting():
		c.Reason = infrav1.FooMachineInstanceDeletingReason
	default:
		c.Reason, c.Message = s.wait.reason, s.wait.message
	}
	if c.Reason == "" {
		// Only an error that is not the cloud's leaves no reason; the next reconcile knows more.
		c.Status, c.Reason = metav1.ConditionUnknown, infrav1.FooMachineReadyUnknownReason
	}
	return c
}

func setInstanceReason(c *metav1.Condition, instance *cloud.Instance) {
	c.Message = instance.Message
	switch instance.State {
	case cloud.InstancePending:
		c.Reason, c.Message = infrav1.FooMachineInstancePendingReason, cmp.Or(instance.Message, "the cloud is making the instance")
	case cloud.InstanceStopped:
		c.Reason = infrav1.FooMachineInstanceStoppedReason
	case cloud.InstanceFailed:
		c.Reason = infrav1.FooMachineInstanceFailedReason
	case cloud.InstanceDeleting:
		c.Reason = infrav1.FooMachineInstanceDeletingReason
	case cloud.InstanceRunning:
		if instance.Address == "" {
			c.Reason, c.Message = infrav1.FooMachineInstancePendingReason, "the instance has no address yet"
			return
		}
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooMachineInstanceProvisionedReason
	}
}

func bootstrapCondition(s *scope) metav1.Condition {
	c := metav1.Condition{
		Type: infrav1.FooMachineBootstrapExecSucceededCondition, Status: metav1.ConditionFalse,
		Reason: infrav1.FooMachineBootstrapPendingReason,
	}
	if s.instance == nil {
		// What an instance that can not be asked for last said still holds: a bootstrap that ended does not begin again.
		if last := conditions.Get(s.fooMachine, c.Type); last != nil {
			return *last
		}
		return c
	}
	c.Message = s.instance.Bootstrap.Message
	switch s.instance.Bootstrap.State {
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

// readyCondition counts the bootstrap only when it failed: until then the instance is what the Machine waits for, and
// its Node says the rest. An instance that will be taken back is not ready any more, so that whoever looks after Machines has the
// time until then to replace it.
func readyCondition(s *scope, provisioned, bootstrap metav1.Condition) metav1.Condition {
	if s.deleting() {
		return metav1.Condition{
			Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.FooMachineDeletingReason,
		}
	}
	if bootstrap.Reason == infrav1.FooMachineBootstrapFailedReason {
		return report.Ready(provisioned, bootstrap)
	}
	if provisioned.Status == metav1.ConditionTrue && s.instance != nil && s.instance.ReclaimAt != nil {
		return metav1.Condition{
			Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.FooMachineReclaimNoticeReason,
			Message: "the cloud takes the instance back at " + s.instance.ReclaimAt.UTC().Format(time.RFC3339),
		}
	}
	return report.Ready(provisioned)
}

func deletingCondition(s *scope) metav1.Condition {
	c := metav1.Condition{Type: infrav1.DeletingCondition, Status: metav1.ConditionTrue, Reason: infrav1.DeletingReason}
	switch {
	case !s.deleting():
		c.Status, c.Reason = metav1.ConditionFalse, infrav1.NotDeletingReason
	case s.gone:
		c.Reason = infrav1.DeletionCompletedReason
	case !s.fault.IsZero():
		c.Message = "the instance can not be deleted: " + s.fault.Message
	default:
		c.Message = "waiting for the instance to go"
	}
	return c
}
