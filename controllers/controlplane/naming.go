// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
)

const randomLength = 5

// machineName renders spec.machineNaming.
func machineName(controlPlane *controlplanev1.FooControlPlane, cluster, random string) (string, error) {
	text := controlPlane.Spec.MachineNaming.Template
	name, err := controlplanerules.MachineName(text, controlplanerules.Names{
		Cluster: cluster, ControlPlane: controlPlane.Name, Random: random,
	})
	if err != nil {
		return "", fmt.Errorf("spec.machineNaming.template %q: %w", text, err)
	}
	return name, nil
}
