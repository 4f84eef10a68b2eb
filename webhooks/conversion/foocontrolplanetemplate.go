// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/controlplane"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

var fooControlPlaneTemplate = converter[controlplanev1.FooControlPlaneTemplate, controlplanev1beta1.FooControlPlaneTemplate,
	*controlplanev1.FooControlPlaneTemplate, *controlplanev1beta1.FooControlPlaneTemplate]{
	{
		name:  "spec",
		hub:   func(t *controlplanev1.FooControlPlaneTemplate) any { return &t.Spec },
		spoke: func(t *controlplanev1beta1.FooControlPlaneTemplate) any { return &t.Spec },
		down:  controlPlaneTemplateSpecToSpoke,
		up:    controlPlaneTemplateSpecToHub,
	},
}

// FooControlPlaneTemplate converts FooControlPlaneTemplates. Pass it to WithConverter of a webhook
// builder.
var FooControlPlaneTemplate = conversion.NewHubSpokeConverter(&controlplanev1.FooControlPlaneTemplate{},
	conversion.NewSpokeConverter(&controlplanev1beta1.FooControlPlaneTemplate{}, fooControlPlaneTemplate.toSpoke, fooControlPlaneTemplate.toHub))

func controlPlaneTemplateSpecToSpoke(ctx context.Context, src *controlplanev1.FooControlPlaneTemplate, dst *controlplanev1beta1.FooControlPlaneTemplate) error {
	hub, spoke := &src.Spec.Template.Spec, &dst.Spec.Template.Spec
	dst.Spec.Template.ObjectMeta = metaToSpoke(src.Spec.Template.ObjectMeta)
	spoke.MachineTemplate = nil
	if !reflect.ValueOf(hub.MachineTemplate).IsZero() {
		spoke.MachineTemplate = &controlplanev1beta1.FooControlPlaneTemplateMachineTemplate{
			ObjectMeta:      metaToSpoke(hub.MachineTemplate.ObjectMeta),
			MachineTimeouts: timeoutsToSpoke(hub.MachineTemplate.Spec.Deletion),
			ReadinessGates:  convertAll(hub.MachineTemplate.Spec.ReadinessGates, gateToSpoke),
			Taints:          convertAll(hub.MachineTemplate.Spec.Taints, taintToSpoke),
		}
	}
	spoke.RolloutBefore, spoke.RolloutAfter, spoke.RolloutStrategy = rolloutToSpoke(&hub.Rollout)
	spoke.RemediationStrategy = remediationToSpoke(&hub.Remediation)
	spoke.MachineNamingStrategy = namingToSpoke(hub.MachineNaming)
	return kubeadmToSpoke(ctx, &hub.KubeadmConfigSpec, &spoke.KubeadmConfigSpec)
}

func controlPlaneTemplateSpecToHub(ctx context.Context, src *controlplanev1beta1.FooControlPlaneTemplate, dst *controlplanev1.FooControlPlaneTemplate) error {
	spoke, hub := &src.Spec.Template.Spec, &dst.Spec.Template.Spec
	dst.Spec.Template.ObjectMeta = metaToHub(src.Spec.Template.ObjectMeta)
	machine := spoke.MachineTemplate
	if machine == nil {
		machine = &controlplanev1beta1.FooControlPlaneTemplateMachineTemplate{}
	}
	hub.MachineTemplate.ObjectMeta = metaToHub(machine.ObjectMeta)
	timeoutsToHub(machine.MachineTimeouts, &hub.MachineTemplate.Spec.Deletion)
	hub.MachineTemplate.Spec.ReadinessGates = convertAll(machine.ReadinessGates, gateToHub)
	hub.MachineTemplate.Spec.Taints = convertAll(machine.Taints, taintToHub)
	rolloutToHub(spoke.RolloutBefore, spoke.RolloutAfter, spoke.RolloutStrategy, &hub.Rollout)
	remediationToHub(spoke.RemediationStrategy, &hub.Remediation)
	namingToHub(spoke.MachineNamingStrategy, &hub.MachineNaming)
	return kubeadmToHub(ctx, &spoke.KubeadmConfigSpec, &hub.KubeadmConfigSpec)
}
