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
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// differences says in what a Machine differs from what a new one would be.
//
//contract:control-plane/min-ready-seconds-and-up-to-date
func (s *scope) differences(machine *clusterv1.Machine) []string {
	var found []string
	if machine.Spec.Version != s.controlPlane.Spec.Version {
		found = append(found, fmt.Sprintf("Version %s, %s required", machine.Spec.Version, s.controlPlane.Spec.Version))
	}
	if difference := s.infraDifference(machine); difference != "" {
		found = append(found, difference)
	}
	if difference := s.configDifference(machine); difference != "" {
		found = append(found, difference)
	}
	return found
}

// infraDifference compares where the infrastructure machine was cloned from, since its spec belongs to its provider.
func (s *scope) infraDifference(machine *clusterv1.Machine) string {
	object, ok := s.infraMachines[machine.Name]
	if !ok {
		return ""
	}
	reference := s.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	name := object.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation]
	kind := object.GetAnnotations()[clusterv1.TemplateClonedFromGroupKindAnnotation]
	if name == "" || (name == reference.Name && kind == reference.GroupKind().String()) {
		return ""
	}
	return fmt.Sprintf("%s was made from template %s %s, %s %s required", object.GetKind(), kind, name, reference.GroupKind(), reference.Name)
}

func (s *scope) configDifference(machine *clusterv1.Machine) string {
	config, ok := s.configs[machine.Name]
	if !ok {
		return ""
	}
	as := roleInit
	if config.Spec.JoinConfiguration.ControlPlane != nil {
		as = roleJoin
	}
	desired, err := desiredConfigSpec(s.controlPlane, as)
	if err != nil {
		return ""
	}
	if apiequality.Semantic.DeepEqual(withoutDefaults(desired), withoutDefaults(config.Spec)) {
		return ""
	}
	return "KubeadmConfig differs from spec.kubeadmConfigSpec"
}

// withoutDefaults leaves out what the bootstrap provider and its defaults fill in, and what is changed in the running
// cluster rather than on machines.
func withoutDefaults(spec bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	result := *spec.DeepCopy()
	result.ClusterConfiguration.ControlPlaneEndpoint = ""
	result.ClusterConfiguration.DNS = bootstrapv1.DNS{}
	result.JoinConfiguration.Discovery = bootstrapv1.Discovery{}
	if result.Format == "" {
		result.Format = bootstrapv1.CloudConfig
	}
	return result
}
