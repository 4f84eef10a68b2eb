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

package machinetemplate

import (
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// setStatus sets the whole status. It is empty for an instance type that the cloud does not have, so that nobody scales up in vain.
//
//contract:infra-machine/autoscaling-from-zero
func setStatus(template *infrav1.FooMachineTemplate, types []cloud.InstanceType) {
	template.Status = infrav1.FooMachineTemplateStatus{}
	for _, t := range types {
		if t.Name == template.Spec.Template.Spec.InstanceTypeOrDefault() {
			template.Status.Capacity, template.Status.NodeInfo = ownertags.NodeCapacity(t)
		}
	}
}
