// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/fieldchange"
)

// changeable returns the paths, relative to spec, of the fields that may change, with everything
// below them. All other fields were applied when the existing machines were created, and a change
// could not reach them.
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
	return forbid(path, "existing machines were created with it", &before, &after, changeable()...)
}

// forbid returns a problem for each field that differs and is not in allowed. why explains it.
func forbid(path *field.Path, why string, before, after any, allowed ...string) field.ErrorList {
	changed, err := fieldchange.Changed(path, before, after, allowed...)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	problems := make(field.ErrorList, 0, len(changed))
	for _, one := range changed {
		problems = append(problems, field.Forbidden(one.Path, "cannot be changed"+values(one)+": "+why))
	}
	return problems
}

// values returns the text with the old and the new value, unless the field is in a part of the
// kubeadm configuration that may hold a token or a password.
func values(change fieldchange.Change) string {
	path := change.Path.String()
	if strings.Contains(path, ".kubeadmConfigSpec.") && !strings.Contains(path, ".kubeadmConfigSpec.clusterConfiguration.") {
		return ""
	}
	return change.Values()
}
