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

package controlplanerules

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// changeable are the fields, relative to spec, that may be changed, with all beneath them. Every other one is what the
// machines that exist were set up with, and what has no way to reach them.
func changeable() []string {
	return []string{
		"replicas",
		"version",
		"machineTemplate",
		"rollout",
		"remediation",
		"machineNaming",
		"kubeadmConfigSpec.clusterConfiguration.etcd",
		"kubeadmConfigSpec.clusterConfiguration.apiServer",
		"kubeadmConfigSpec.clusterConfiguration.controllerManager",
		"kubeadmConfigSpec.clusterConfiguration.scheduler",
		"kubeadmConfigSpec.clusterConfiguration.dns",
		"kubeadmConfigSpec.clusterConfiguration.imageRepository",
		"kubeadmConfigSpec.clusterConfiguration.featureGates",
		"kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays",
		"kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm",
		"kubeadmConfigSpec.initConfiguration.bootstrapTokens",
		"kubeadmConfigSpec.initConfiguration.nodeRegistration",
		"kubeadmConfigSpec.initConfiguration.localAPIEndpoint",
		"kubeadmConfigSpec.initConfiguration.skipPhases",
		"kubeadmConfigSpec.initConfiguration.patches",
		"kubeadmConfigSpec.initConfiguration.timeouts",
		"kubeadmConfigSpec.joinConfiguration.nodeRegistration",
		"kubeadmConfigSpec.joinConfiguration.caCertPath",
		"kubeadmConfigSpec.joinConfiguration.controlPlane",
		"kubeadmConfigSpec.joinConfiguration.discovery",
		"kubeadmConfigSpec.joinConfiguration.skipPhases",
		"kubeadmConfigSpec.joinConfiguration.patches",
		"kubeadmConfigSpec.joinConfiguration.timeouts",
		"kubeadmConfigSpec.files",
		"kubeadmConfigSpec.diskSetup",
		"kubeadmConfigSpec.mounts",
		"kubeadmConfigSpec.bootCommands",
		"kubeadmConfigSpec.preKubeadmCommands",
		"kubeadmConfigSpec.postKubeadmCommands",
		"kubeadmConfigSpec.users",
		"kubeadmConfigSpec.ntp",
		"kubeadmConfigSpec.format",
		"kubeadmConfigSpec.verbosity",
		"kubeadmConfigSpec.ignition",
	}
}

func validateChanges(before, after controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	found := changes(before, after, path, changeable()...)
	errs := make(field.ErrorList, 0, len(found))
	for _, changed := range found {
		errs = append(errs, field.Forbidden(changed, "can not be changed: the machines that exist were set up with it"))
	}
	return errs
}

// changes returns the paths of the fields that differ, sorted, but for those that may be changed.
func changes(before, after any, path *field.Path, allowed ...string) []*field.Path {
	was, errBefore := runtime.DefaultUnstructuredConverter.ToUnstructured(pointer(before))
	becomes, errAfter := runtime.DefaultUnstructuredConverter.ToUnstructured(pointer(after))
	if errBefore != nil || errAfter != nil {
		return []*field.Path{path}
	}
	permitted := map[string]bool{}
	for _, name := range allowed {
		permitted[path.String()+"."+name] = true
	}
	return compare(was, becomes, path, permitted)
}

// pointer gives the converter what it wants.
func pointer(value any) any {
	switch typed := value.(type) {
	case controlplanev1.FooControlPlaneSpec:
		return &typed
	case controlplanev1.FooControlPlaneTemplateResourceSpec:
		return &typed
	}
	return value
}

// compare takes a missing object for an empty one, so that it is its fields that are named.
func compare(before, after map[string]any, path *field.Path, permitted map[string]bool) []*field.Path {
	var changed []*field.Path
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		child := path.Child(name)
		was, wasObject := before[name].(map[string]any)
		becomes, becomesObject := after[name].(map[string]any)
		switch {
		case permitted[child.String()] || apiequality.Semantic.DeepEqual(before[name], after[name]):
		case (wasObject || before[name] == nil) && (becomesObject || after[name] == nil):
			changed = append(changed, compare(was, becomes, child, permitted)...)
		default:
			changed = append(changed, child)
		}
	}
	return changed
}
