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

// setStatus sets the whole status. It is empty for an instance type that a cloud does not have, so that nobody scales up in vain,
// and where the clouds of several clusters do not agree.
//
//contract:infra-machine/autoscaling-from-zero
func setStatus(template *infrav1.FooMachineTemplate, sizes []*cloud.InstanceType) {
	template.Status = infrav1.FooMachineTemplateStatus{}
	for _, size := range sizes {
		if size == nil || size.CPUs != sizes[0].CPUs || size.MemoryBytes != sizes[0].MemoryBytes || size.Architecture != sizes[0].Architecture {
			template.Status = infrav1.FooMachineTemplateStatus{}
			return
		}
		template.Status.Capacity, template.Status.NodeInfo = ownertags.NodeCapacity(*size)
	}
}
