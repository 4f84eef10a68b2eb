// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

var fooMachinePool = converter[infrav1.FooMachinePool, infrav1beta1.FooMachinePool, *infrav1.FooMachinePool, *infrav1beta1.FooMachinePool]{
	{
		name:  "spec",
		hub:   func(p *infrav1.FooMachinePool) any { return &p.Spec },
		spoke: func(p *infrav1beta1.FooMachinePool) any { return &p.Spec },
		down: func(_ context.Context, hub *infrav1.FooMachinePool, spoke *infrav1beta1.FooMachinePool) error {
			poolSpecToSpoke(&hub.Spec, &spoke.Spec)
			return nil
		},
		up: func(_ context.Context, spoke *infrav1beta1.FooMachinePool, hub *infrav1.FooMachinePool) error {
			poolSpecToHub(&spoke.Spec, &hub.Spec)
			return nil
		},
	},
	{
		name:     "status",
		computed: true,
		hub:      func(p *infrav1.FooMachinePool) any { return &p.Status },
		spoke:    func(p *infrav1beta1.FooMachinePool) any { return &p.Status },
		down:     poolStatusToSpoke,
		up:       poolStatusToHub,
	},
}

// FooMachinePool converts FooMachinePools. Pass it to WithConverter of a webhook builder.
var FooMachinePool = conversion.NewHubSpokeConverter(&infrav1.FooMachinePool{},
	conversion.NewSpokeConverter(&infrav1beta1.FooMachinePool{}, fooMachinePool.toSpoke, fooMachinePool.toHub))

func poolSpecToSpoke(hub *infrav1.FooMachinePoolSpec, spoke *infrav1beta1.FooMachinePoolSpec) {
	spoke.ProviderID = hub.ProviderID
	spoke.ProviderIDList = hub.ProviderIDList
	spoke.Template.InstanceType = hub.Template.InstanceType
	spoke.Template.Interruptible = hub.Template.Interruptible
}

func poolSpecToHub(spoke *infrav1beta1.FooMachinePoolSpec, hub *infrav1.FooMachinePoolSpec) {
	hub.ProviderID = spoke.ProviderID
	hub.ProviderIDList = spoke.ProviderIDList
	hub.Template.InstanceType = spoke.Template.InstanceType
	hub.Template.Interruptible = spoke.Template.Interruptible
}

func poolStatusToSpoke(_ context.Context, hub *infrav1.FooMachinePool, spoke *infrav1beta1.FooMachinePool) error {
	spoke.Status = infrav1beta1.FooMachinePoolStatus{
		ContractStatus:            contractStatus(hub.Status.Conditions, hub.Status.Initialization.Provisioned, hub.Status.ObservedGeneration),
		Replicas:                  count(hub.Status.Replicas),
		InfrastructureMachineKind: hub.Status.InfrastructureMachineKind,
		Instances:                 convertAll(hub.Status.Instances, instanceToSpoke),
		Capacity:                  hub.Status.Capacity,
		NodeInfo:                  nodeInfoToSpoke(hub.Status.NodeInfo),
	}
	return nil
}

func poolStatusToHub(_ context.Context, spoke *infrav1beta1.FooMachinePool, hub *infrav1.FooMachinePool) error {
	hub.Status.Conditions = modernConditions(spoke.Status.V1Beta2)
	setBool(spoke.Status.Ready, &hub.Status.Initialization.Provisioned)
	setBool(spoke.Status.Ready, &hub.Status.Ready)
	hub.Status.ObservedGeneration = spoke.Status.ObservedGeneration
	setCount(spoke.Status.Replicas, &hub.Status.Replicas)
	hub.Status.InfrastructureMachineKind = spoke.Status.InfrastructureMachineKind
	known := map[string]infrav1.FooMachinePoolInstanceStatus{}
	for _, instance := range hub.Status.Instances {
		known[instance.InstanceName] = instance
	}
	hub.Status.Instances = convertAll(spoke.Status.Instances, func(instance infrav1beta1.FooMachinePoolInstanceStatus) infrav1.FooMachinePoolInstanceStatus {
		return instanceToHub(instance, known[instance.InstanceName])
	})
	hub.Status.Capacity = spoke.Status.Capacity
	nodeInfoToHub(spoke.Status.NodeInfo, &hub.Status.NodeInfo)
	return nil
}

func instanceToSpoke(instance infrav1.FooMachinePoolInstanceStatus) infrav1beta1.FooMachinePoolInstanceStatus {
	return infrav1beta1.FooMachinePoolInstanceStatus{
		InstanceName:  instance.InstanceName,
		ProviderID:    instance.ProviderID,
		Addresses:     convertAll(instance.Addresses, addressToSpoke),
		FailureDomain: instance.FailureDomain,
		Version:       instance.Version,
		State:         string(instance.State),
		Ready:         instance.Ready,
	}
}

// instanceToHub writes an instance over what is known of the instance with the same name.
func instanceToHub(instance infrav1beta1.FooMachinePoolInstanceStatus, hub infrav1.FooMachinePoolInstanceStatus) infrav1.FooMachinePoolInstanceStatus {
	hub.InstanceName = instance.InstanceName
	hub.ProviderID = instance.ProviderID
	hub.Addresses = convertAll(instance.Addresses, addressToHub)
	hub.FailureDomain = instance.FailureDomain
	hub.Version = instance.Version
	hub.State = infrav1.InstanceState(instance.State)
	hub.Ready = instance.Ready
	return hub
}

func nodeInfoToSpoke(info infrav1.NodeInfo) *infrav1beta1.NodeInfo {
	if info == (infrav1.NodeInfo{}) {
		return nil
	}
	return &infrav1beta1.NodeInfo{Architecture: string(info.Architecture), OperatingSystem: info.OperatingSystem}
}

func nodeInfoToHub(info *infrav1beta1.NodeInfo, hub *infrav1.NodeInfo) {
	if info == nil {
		info = &infrav1beta1.NodeInfo{}
	}
	hub.Architecture, hub.OperatingSystem = infrav1.Architecture(info.Architecture), info.OperatingSystem
}
