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
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// evidence returns what may prove that the control plane has been initialized.
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
		result.Node = result.Node || machine.Status.NodeRef.IsDefined() && machine.DeletionTimestamp.IsZero()
	}
	return result
}

// joins says whether the Machine was made to join.
func (s *scope) joins(machine *clusterv1.Machine) bool {
	config, ok := s.configs[machine.Name]
	return ok && config.Spec.JoinConfiguration.ControlPlane != nil
}
