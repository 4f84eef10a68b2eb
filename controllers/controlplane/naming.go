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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
)

const randomLength = 5

// machineName returns a name by spec.machineNaming.
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
