// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart/progress"
)

// controlPlaneLabel is the label that kubeadm sets on control plane nodes.
const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// hopeless lists the reasons of Foo's conditions that waiting will not solve unless somebody
// changes something.
var hopeless = []string{
	infrav1.CloudInvalidReason, infrav1.CloudQuotaExceededReason, infrav1.CloudUnauthorizedReason,
	infrav1.FooMachineInstanceFailedReason, infrav1.FooMachineInstanceStoppedReason, infrav1.FooMachineBootstrapFailedReason,
}

// snapshot converts the objects into the input of package progress.
func (o *objects) snapshot(nodes []corev1.Node) progress.Snapshot {
	cluster := o.cluster
	s := progress.Snapshot{
		InfrastructureProvisioned: ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false),
		Certificates:              o.hasSecrets(secret.ClusterCA, secret.EtcdCA, secret.FrontProxyCA, secret.ServiceAccount),
		Kubeconfig:                o.hasSecrets(secret.Kubeconfig),
		Initialized:               ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false),
		Available:                 conditions.IsTrue(cluster, clusterv1.ClusterAvailableCondition),
		First:                     o.first(),
		Failures:                  o.failures(),
	}
	if cluster.Spec.ControlPlaneEndpoint.IsValid() {
		s.Endpoint = cluster.Spec.ControlPlaneEndpoint.String()
	}
	for _, controlPlane := range o.controlPlane.Items {
		s.ControlPlaneReplicas += int(ptr.Deref(controlPlane.Spec.Replicas, 1))
	}
	for _, pool := range o.pools.Items {
		s.WorkerReplicas += int(ptr.Deref(pool.Spec.Replicas, 1))
	}
	slices.SortFunc(nodes, func(a, b corev1.Node) int { return older(&a, &b) })
	for _, node := range nodes {
		_, controlPlane := node.Labels[controlPlaneLabel]
		s.Nodes = append(s.Nodes, progress.Node{Name: node.Name, ControlPlane: controlPlane, Ready: util.IsNodeReady(&node)})
	}
	return s
}

func (o *objects) hasSecrets(purposes ...secret.Purpose) bool {
	for _, purpose := range purposes {
		if !o.secrets.Has(secret.Name(o.cluster.Name, purpose)) {
			return false
		}
	}
	return true
}

func older(a, b client.Object) int {
	byTime := a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	return cmp.Or(byTime, cmp.Compare(a.GetName(), b.GetName()))
}

// first joins the first Machine of the control plane with its FooMachine.
func (o *objects) first() progress.Machine {
	slices.SortFunc(o.machines.Items, func(a, b clusterv1.Machine) int { return older(&a, &b) })
	index := slices.IndexFunc(o.machines.Items, func(machine clusterv1.Machine) bool { return util.IsControlPlaneMachine(&machine) })
	if index == -1 {
		return progress.Machine{}
	}
	machine := o.machines.Items[index]
	first := progress.Machine{Name: machine.Name, BootstrapData: ptr.Deref(machine.Status.Initialization.BootstrapDataSecretCreated, false)}
	for _, fooMachine := range o.fooMachines.Items {
		if fooMachine.Name != machine.Spec.InfrastructureRef.Name {
			continue
		}
		first.Running = fooMachine.Status.InstanceState == infrav1.InstanceState(cloud.InstanceRunning)
		first.Bootstrapped = fooMachine.Status.BootstrapState == infrav1.BootstrapState(cloud.BootstrapSucceeded)
		for _, address := range fooMachine.Status.Addresses {
			if address.Type == clusterv1.MachineInternalIP {
				first.Address = address.Address
			}
		}
	}
	return first
}

type conditioned interface {
	client.Object
	conditions.Getter
}

// all returns all objects with conditions, starting with those whose conditions are closest to a
// cause.
func (o *objects) all() []conditioned {
	var list []conditioned
	for _, kind := range []client.ObjectList{&o.fooMachines, &o.fooPools, &o.infra, &o.controlPlane, &o.machines, &o.pools} {
		_ = meta.EachListItem(kind, func(item runtime.Object) error {
			list = append(list, item.(conditioned))
			return nil
		})
	}
	return append(list, o.cluster)
}

// failures returns the conditions of Foo's own objects that waiting will not solve.
func (o *objects) failures() []string {
	return o.describe(func(c metav1.Condition) bool {
		return c.Status == metav1.ConditionFalse && slices.Contains(hopeless, c.Reason) && c.Type != clusterv1.ReadyCondition
	})
}

// unready returns why objects are not ready, one line per condition.
func (o *objects) unready() []string {
	return o.describe(func(c metav1.Condition) bool {
		return c.Status != metav1.ConditionTrue && (c.Type == clusterv1.ReadyCondition || c.Type == clusterv1.AvailableCondition)
	})
}

// describe returns a line for each condition that is to be shown.
func (o *objects) describe(shown func(metav1.Condition) bool) []string {
	var list []string
	for _, object := range o.all() {
		kind := reflect.TypeOf(object).Elem().Name()
		for _, condition := range object.GetConditions() {
			if !shown(condition) {
				continue
			}
			text := fmt.Sprintf("%s %s: %s is %s (%s)", kind, object.GetName(), condition.Type, condition.Status, condition.Reason)
			if condition.Message != "" {
				text += ": " + condition.Message
			}
			list = append(list, text)
		}
	}
	return list
}

// suspect returns the ID of the first instance that has not completed its bootstrap; empty if there
// is none.
func (o *objects) suspect() string {
	for _, machine := range o.fooMachines.Items {
		if machine.Status.InstanceID != "" && machine.Status.BootstrapState != infrav1.BootstrapState(cloud.BootstrapSucceeded) {
			return machine.Status.InstanceID
		}
	}
	return ""
}
