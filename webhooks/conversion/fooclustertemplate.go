// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var fooClusterTemplate = converter[infrav1.FooClusterTemplate, infrav1beta1.FooClusterTemplate, *infrav1.FooClusterTemplate, *infrav1beta1.FooClusterTemplate]{
	{
		name:  "spec",
		hub:   func(t *infrav1.FooClusterTemplate) any { return &t.Spec },
		spoke: func(t *infrav1beta1.FooClusterTemplate) any { return &t.Spec },
		down: func(_ context.Context, hub *infrav1.FooClusterTemplate, spoke *infrav1beta1.FooClusterTemplate) error {
			spoke.Spec.Template.ObjectMeta = metaToSpoke(hub.Spec.Template.ObjectMeta)
			clusterSpecToSpoke(&hub.Spec.Template.Spec, &spoke.Spec.Template.Spec)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooClusterTemplate, hub *infrav1.FooClusterTemplate) error {
			hub.Spec.Template.ObjectMeta = metaToHub(spoke.Spec.Template.ObjectMeta)
			clusterSpecToHub(&spoke.Spec.Template.Spec, &hub.Spec.Template.Spec)
			return nil
		},
	},
}

// FooClusterTemplate converts FooClusterTemplates. Pass it to WithConverter of a webhook builder.
var FooClusterTemplate = conversion.NewHubSpokeConverter(&infrav1.FooClusterTemplate{},
	conversion.NewSpokeConverter(&infrav1beta1.FooClusterTemplate{}, fooClusterTemplate.toSpoke, fooClusterTemplate.toHub))
