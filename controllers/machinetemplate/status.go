// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinetemplate

import (
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// setStatus sets the whole status. It is empty if a cloud does not have the instance type, so that
// nobody scales up in vain, or if the clouds of several clusters disagree.
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
