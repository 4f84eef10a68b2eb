// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var fooMachine = converter[infrav1.FooMachine, infrav1beta1.FooMachine, *infrav1.FooMachine, *infrav1beta1.FooMachine]{
	{
		name:  "spec",
		hub:   func(m *infrav1.FooMachine) any { return &m.Spec },
		spoke: func(m *infrav1beta1.FooMachine) any { return &m.Spec },
		down: func(_ context.Context, hub *infrav1.FooMachine, spoke *infrav1beta1.FooMachine) error {
			machineSpecToSpoke(&hub.Spec, &spoke.Spec)
			// The v1beta1 contract expects the zone in the spec.
			spoke.Spec.FailureDomain = optional(hub.Status.FailureDomain)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooMachine, hub *infrav1.FooMachine) error {
			machineSpecToHub(&spoke.Spec, &hub.Spec)
			return nil
		},
	},
	{
		name:     "status",
		computed: true,
		hub:      func(m *infrav1.FooMachine) any { return &m.Status },
		spoke:    func(m *infrav1beta1.FooMachine) any { return &m.Status },
		down:     machineStatusToSpoke,
		up:       machineStatusToHub,
	},
}

// FooMachine converts FooMachines. Pass it to WithConverter of a webhook builder.
var FooMachine = conversion.NewHubSpokeConverter(&infrav1.FooMachine{},
	conversion.NewSpokeConverter(&infrav1beta1.FooMachine{}, fooMachine.toSpoke, fooMachine.toHub))

func machineSpecToSpoke(hub *infrav1.FooMachineSpec, spoke *infrav1beta1.FooMachineSpec) {
	spoke.ProviderID = optional(hub.ProviderID)
	spoke.InstanceType = hub.InstanceType
	spoke.Interruptible = hub.Interruptible
}

func machineSpecToHub(spoke *infrav1beta1.FooMachineSpec, hub *infrav1.FooMachineSpec) {
	hub.ProviderID = given(spoke.ProviderID)
	hub.InstanceType = spoke.InstanceType
	hub.Interruptible = spoke.Interruptible
}

func machineStatusToSpoke(_ context.Context, hub *infrav1.FooMachine, spoke *infrav1beta1.FooMachine) error {
	spoke.Status = infrav1beta1.FooMachineStatus{
		ContractStatus: contractStatus(hub.Status.Conditions, hub.Status.Initialization.Provisioned, hub.Status.ObservedGeneration),
		Addresses:      convertAll(hub.Status.Addresses, addressToSpoke),
		InstanceID:     hub.Status.InstanceID,
		InstanceState:  string(hub.Status.InstanceState),
		InstanceType:   hub.Status.InstanceType,
		BootstrapState: string(hub.Status.BootstrapState),
		Interruptible:  hub.Status.Interruptible,
	}
	return nil
}

func machineStatusToHub(_ context.Context, spoke *infrav1beta1.FooMachine, hub *infrav1.FooMachine) error {
	hub.Status.Conditions = modernConditions(spoke.Status.V1Beta2)
	setBool(spoke.Status.Ready, &hub.Status.Initialization.Provisioned)
	hub.Status.ObservedGeneration = spoke.Status.ObservedGeneration
	hub.Status.FailureDomain = given(spoke.Spec.FailureDomain)
	hub.Status.Addresses = convertAll(spoke.Status.Addresses, addressToHub)
	hub.Status.InstanceID = spoke.Status.InstanceID
	hub.Status.InstanceState = infrav1.InstanceState(spoke.Status.InstanceState)
	hub.Status.InstanceType = spoke.Status.InstanceType
	hub.Status.BootstrapState = infrav1.BootstrapState(spoke.Status.BootstrapState)
	hub.Status.Interruptible = spoke.Status.Interruptible
	return nil
}
