// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"time"

	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

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
