// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func metadataOf(spec engine.MachineSpec) contract.Instance {
	return contract.Instance{
		ID: spec.ID, Name: spec.Name, Hostname: spec.Hostname, ProviderID: spec.ProviderID, Zone: spec.Zone,
		Type: spec.Type, CPUs: spec.CPUs, MemoryBytes: spec.MemoryBytes,
		KubernetesVersion: spec.KubernetesVersion, Address: spec.Address, Tags: spec.Tags,
	}
}
