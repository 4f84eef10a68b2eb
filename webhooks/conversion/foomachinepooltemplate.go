// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var fooMachinePoolTemplate = converter[infrav1.FooMachinePoolTemplate, infrav1beta1.FooMachinePoolTemplate, *infrav1.FooMachinePoolTemplate, *infrav1beta1.FooMachinePoolTemplate]{
	{
		name:  "spec",
		hub:   func(t *infrav1.FooMachinePoolTemplate) any { return &t.Spec },
		spoke: func(t *infrav1beta1.FooMachinePoolTemplate) any { return &t.Spec },
		down: func(_ context.Context, hub *infrav1.FooMachinePoolTemplate, spoke *infrav1beta1.FooMachinePoolTemplate) error {
			spoke.Spec.Template.ObjectMeta = metaToSpoke(hub.Spec.Template.ObjectMeta)
			poolSpecToSpoke(&hub.Spec.Template.Spec, &spoke.Spec.Template.Spec)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooMachinePoolTemplate, hub *infrav1.FooMachinePoolTemplate) error {
			hub.Spec.Template.ObjectMeta = metaToHub(spoke.Spec.Template.ObjectMeta)
			poolSpecToHub(&spoke.Spec.Template.Spec, &hub.Spec.Template.Spec)
			return nil
		},
	},
}

// FooMachinePoolTemplate converts FooMachinePoolTemplates. Pass it to WithConverter of a webhook
// builder.
var FooMachinePoolTemplate = conversion.NewHubSpokeConverter(&infrav1.FooMachinePoolTemplate{},
	conversion.NewSpokeConverter(&infrav1beta1.FooMachinePoolTemplate{}, fooMachinePoolTemplate.toSpoke, fooMachinePoolTemplate.toHub))
