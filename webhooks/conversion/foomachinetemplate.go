// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var fooMachineTemplate = converter[infrav1.FooMachineTemplate, infrav1beta1.FooMachineTemplate, *infrav1.FooMachineTemplate, *infrav1beta1.FooMachineTemplate]{
	{
		name:  "spec",
		hub:   func(t *infrav1.FooMachineTemplate) any { return &t.Spec },
		spoke: func(t *infrav1beta1.FooMachineTemplate) any { return &t.Spec },
		down: func(_ context.Context, hub *infrav1.FooMachineTemplate, spoke *infrav1beta1.FooMachineTemplate) error {
			spoke.Spec.Template.ObjectMeta = metaToSpoke(hub.Spec.Template.ObjectMeta)
			machineSpecToSpoke(&hub.Spec.Template.Spec, &spoke.Spec.Template.Spec)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooMachineTemplate, hub *infrav1.FooMachineTemplate) error {
			hub.Spec.Template.ObjectMeta = metaToHub(spoke.Spec.Template.ObjectMeta)
			machineSpecToHub(&spoke.Spec.Template.Spec, &hub.Spec.Template.Spec)
			return nil
		},
	},
	{
		name:     "status",
		computed: true,
		hub:      func(t *infrav1.FooMachineTemplate) any { return &t.Status },
		spoke:    func(t *infrav1beta1.FooMachineTemplate) any { return &t.Status },
		down: func(_ context.Context, hub *infrav1.FooMachineTemplate, spoke *infrav1beta1.FooMachineTemplate) error {
			spoke.Status.Capacity, spoke.Status.NodeInfo = hub.Status.Capacity, nodeInfoToSpoke(hub.Status.NodeInfo)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooMachineTemplate, hub *infrav1.FooMachineTemplate) error {
			hub.Status.Capacity = spoke.Status.Capacity
			nodeInfoToHub(spoke.Status.NodeInfo, &hub.Status.NodeInfo)
			return nil
		},
	},
}

// FooMachineTemplate converts FooMachineTemplates. Pass it to WithConverter of a webhook builder.
var FooMachineTemplate = conversion.NewHubSpokeConverter(&infrav1.FooMachineTemplate{},
	conversion.NewSpokeConverter(&infrav1beta1.FooMachineTemplate{}, fooMachineTemplate.toSpoke, fooMachineTemplate.toHub))
