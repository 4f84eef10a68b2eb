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

package instance

import (
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func metadataOf(spec engine.MachineSpec) contract.Instance {
	return contract.Instance{
		ID: spec.ID, Name: spec.Name, Hostname: spec.Hostname, ProviderID: spec.ProviderID, Zone: spec.Zone,
		Type: spec.Type, CPUs: spec.CPUs, MemoryBytes: spec.MemoryBytes,
		KubernetesVersion: spec.KubernetesVersion, Address: spec.Address, Tags: spec.Tags,
	}
}
