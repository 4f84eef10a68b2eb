// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/controlplane"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// FooControlPlane returns the converter of FooControlPlanes, for WithConverter of a webhook
// builder. The mapper provides the version for references to infrastructure machine templates.
func FooControlPlane(mapper meta.RESTMapper) func(*runtime.Scheme) (conversion.Converter, error) {
	c := fooControlPlane(references{mapper: mapper})
	return conversion.NewHubSpokeConverter(&controlplanev1.FooControlPlane{},
		conversion.NewSpokeConverter(&controlplanev1beta1.FooControlPlane{}, c.toSpoke, c.toHub))
}

type controlPlaneConverter = converter[controlplanev1.FooControlPlane, controlplanev1beta1.FooControlPlane,
	*controlplanev1.FooControlPlane, *controlplanev1beta1.FooControlPlane]

func fooControlPlane(refs references) controlPlaneConverter {
	return controlPlaneConverter{
		{
			name:  "spec",
			hub:   func(c *controlplanev1.FooControlPlane) any { return &c.Spec },
			spoke: func(c *controlplanev1beta1.FooControlPlane) any { return &c.Spec },
			down: func(ctx context.Context, hub *controlplanev1.FooControlPlane, spoke *controlplanev1beta1.FooControlPlane) error {
				spoke.Spec.MachineTemplate.InfrastructureRef = refs.toSpoke(hub.Spec.MachineTemplate.Spec.InfrastructureRef, hub.Namespace)
				return controlPlaneSpecToSpoke(ctx, &hub.Spec, &spoke.Spec)
			},
			up: controlPlaneSpecToHub,
		},
		{
			name:     "status",
			computed: true,
			hub:      func(c *controlplanev1.FooControlPlane) any { return &c.Status },
			spoke:    func(c *controlplanev1beta1.FooControlPlane) any { return &c.Status },
			down:     controlPlaneStatusToSpoke,
			up:       controlPlaneStatusToHub,
		},
	}
}

func controlPlaneSpecToSpoke(ctx context.Context, hub *controlplanev1.FooControlPlaneSpec, spoke *controlplanev1beta1.FooControlPlaneSpec) error {
	spoke.Replicas = hub.Replicas
	spoke.Version = hub.Version
	spoke.MachineTemplate.ObjectMeta = metaToSpoke(hub.MachineTemplate.ObjectMeta)
	spoke.MachineTemplate.MachineTimeouts = timeoutsToSpoke(hub.MachineTemplate.Spec.Deletion)
	spoke.MachineTemplate.ReadinessGates = convertAll(hub.MachineTemplate.Spec.ReadinessGates, gateToSpoke)
	spoke.MachineTemplate.Taints = convertAll(hub.MachineTemplate.Spec.Taints, taintToSpoke)
	spoke.RolloutBefore, spoke.RolloutAfter, spoke.RolloutStrategy = rolloutToSpoke(&hub.Rollout)
	spoke.RemediationStrategy = remediationToSpoke(&hub.Remediation)
	spoke.MachineNamingStrategy = namingToSpoke(hub.MachineNaming)
	return kubeadmToSpoke(ctx, &hub.KubeadmConfigSpec, &spoke.KubeadmConfigSpec)
}

func controlPlaneSpecToHub(ctx context.Context, src *controlplanev1beta1.FooControlPlane, dst *controlplanev1.FooControlPlane) error {
	spoke, hub := &src.Spec, &dst.Spec
	hub.MachineTemplate.Spec.InfrastructureRef = referenceToHub(spoke.MachineTemplate.InfrastructureRef)
	hub.Replicas = spoke.Replicas
	hub.Version = spoke.Version
	hub.MachineTemplate.ObjectMeta = metaToHub(spoke.MachineTemplate.ObjectMeta)
	timeoutsToHub(spoke.MachineTemplate.MachineTimeouts, &hub.MachineTemplate.Spec.Deletion)
	hub.MachineTemplate.Spec.ReadinessGates = convertAll(spoke.MachineTemplate.ReadinessGates, gateToHub)
	hub.MachineTemplate.Spec.Taints = convertAll(spoke.MachineTemplate.Taints, taintToHub)
	rolloutToHub(spoke.RolloutBefore, spoke.RolloutAfter, spoke.RolloutStrategy, &hub.Rollout)
	remediationToHub(spoke.RemediationStrategy, &hub.Remediation)
	namingToHub(spoke.MachineNamingStrategy, &hub.MachineNaming)
	return kubeadmToHub(ctx, &spoke.KubeadmConfigSpec, &hub.KubeadmConfigSpec)
}
