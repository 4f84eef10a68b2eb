// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// action is what to do next.
type action string

const (
	// keep changes nothing.
	keep action = "Keep"
	// hold waits for what the decision names.
	hold action = "Hold"
	// createInstance orders the instance.
	createInstance action = "CreateInstance"
	// drainInstance takes the instance out of the load balancer.
	drainInstance action = "DrainInstance"
	// deleteInstance deletes the instance, or confirms that it is gone.
	deleteInstance action = "DeleteInstance"
	// release removes the finalizer.
	release action = "Release"
)

// waiting is what a FooMachine without an instance waits for.
type waiting struct {
	reason, message string
	// retry is when to look again if no event reports the change; zero if an event does.
	retry time.Duration
}

// decision is the next action and its inputs.
type decision struct {
	action action
	// wait is the reason, for hold.
	wait waiting
	// instance is the order without its user data, for createInstance.
	instance cloud.InstanceSpec
	// secret holds the user data, for createInstance.
	secret types.NamespacedName
}

// decide returns what to do next. A changed spec does not affect an existing instance: a rollout or
// an in-place update of the Machine handles that.
func decide(s *state) decision {
	switch {
	case !s.fault.IsZero():
		return decision{action: keep}
	case s.deleting() && s.instance != nil:
		return decision{action: deleteInstance}
	case s.deleting():
		return decision{action: release}
	case isToDrain(s):
		return decision{action: drainInstance}
	case s.instance != nil || s.lost:
		return decision{action: keep}
	}
	if wait := missing(s); wait.reason != "" {
		return decision{action: hold, wait: wait}
	}
	return decision{
		action:   createInstance,
		instance: instanceSpec(s),
		secret: types.NamespacedName{
			Namespace: s.fooMachine.Namespace, Name: ptr.Deref(s.machine.Spec.Bootstrap.DataSecretName, ""),
		},
	}
}

// isToDrain reports whether clients should leave an API server: its Machine is being deleted, so
// its etcd member and then its instance are removed once its pods are gone.
func isToDrain(s *state) bool {
	return s.machine != nil && !s.machine.DeletionTimestamp.IsZero() && util.IsControlPlaneMachine(s.machine) &&
		s.instance != nil && !s.instance.State.Terminal() && !s.instance.Draining
}

// missing returns what must exist before an instance may be ordered, but does not.
func missing(s *state) waiting {
	switch {
	case s.ofPool():
		return waiting{reason: infrav1.FooMachineWaitingForPoolReason, message: "Waiting for the pool to assign an instance"}
	case !ptr.Deref(s.cluster.Status.Initialization.InfrastructureProvisioned, false):
		return waiting{
			reason:  infrav1.FooMachineWaitingForClusterInfrastructureReason,
			message: "Waiting for the Cluster to report its infrastructure as provisioned",
		}
	case ptr.Deref(s.machine.Spec.Bootstrap.DataSecretName, "") != "":
		return waiting{}
	case !util.IsControlPlaneMachine(s.machine) && !conditions.IsTrue(s.cluster, clusterv1.ClusterControlPlaneInitializedCondition):
		return waiting{
			reason:  infrav1.FooMachineWaitingForControlPlaneReason,
			message: "Waiting for the control plane to be initialized",
		}
	default:
		return waiting{
			reason:  infrav1.FooMachineWaitingForBootstrapDataReason,
			message: "Waiting for spec.bootstrap.dataSecretName of the Machine",
		}
	}
}

// instanceSpec returns the order for the instance, without user data.
func instanceSpec(s *state) cloud.InstanceSpec {
	role := ownertags.RoleWorker
	if util.IsControlPlaneMachine(s.machine) {
		role = ownertags.RoleControlPlane
	}
	cluster := types.NamespacedName{Namespace: s.cluster.Namespace, Name: s.cluster.Name}
	wanted := &s.fooMachine.Spec
	spec := cloud.InstanceSpec{
		Name:     s.owner().CloudName(),
		Hostname: s.fooMachine.Name,
		Zone:     s.machine.Spec.FailureDomain,
		InstanceTemplate: cloud.InstanceTemplate{
			Type:              wanted.InstanceTypeOrDefault(),
			KubernetesVersion: s.machine.Spec.Version,
			Image:             wanted.Image,
			DiskBytes:         wanted.RootDisk.Bytes(),
			Tags:              s.owner().InstanceTags(cluster, role, s.clusterTags, wanted.AdditionalTags),
			Interruptible:     ptr.Deref(wanted.Interruptible, false),
		},
	}
	if spec.Zone == "" {
		spec.Zones, spec.Spread = zones(s.cluster, role), ownertags.RoleSelector(cluster, role)
	}
	return spec
}

// zones returns the cluster's failure domains for a role. It returns nil if there are none, so that
// the cloud picks any zone.
func zones(cluster *clusterv1.Cluster, role ownertags.Role) []string {
	var names []string
	for _, domain := range cluster.Status.FailureDomains {
		if role == ownertags.RoleWorker || ptr.Deref(domain.ControlPlane, false) {
			names = append(names, domain.Name)
		}
	}
	return names
}
