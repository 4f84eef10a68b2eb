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

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// provedInitialized says whether anything proves that the control plane has been initialized. The status alone proves
// nothing when it is empty: it is lost when a backup is restored or a Machine is adopted. Machines join only after the
// first one has initialized the control plane, so a second Machine, or one that was made to join, proves it too.
func (s *scope) provedInitialized() bool {
	return ptr.Deref(s.controlPlane.Status.Initialization.ControlPlaneInitialized, false) ||
		clusterInitialized(s.cluster) || len(s.machines) > 1 || slices.ContainsFunc(s.machines, s.provesInitialization)
}

func (s *scope) provesInitialization(machine *clusterv1.Machine) bool {
	_, marked := machine.Annotations[controlplanev1.InitializedAnnotation]
	return marked || machine.Status.NodeRef.IsDefined() || s.joins(machine)
}

// joins says whether the Machine was made to join.
func (s *scope) joins(machine *clusterv1.Machine) bool {
	config, ok := s.configs[machine.Name]
	return ok && config.Spec.JoinConfiguration.ControlPlane != nil
}
