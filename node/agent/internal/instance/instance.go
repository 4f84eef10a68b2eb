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

// Package instance holds what the cloud tells an instance about itself.
//
// The cloud writes it to File before the instance starts. The shape is a contract with the cloud's daemon, which defines it
// on its side; neither imports the other.
package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
)

const (
	// File is where the cloud leaves the description.
	File = "/run/foo/instance.json"
	// UserDataFile is where the cloud leaves the bootstrap data.
	UserDataFile = "/run/foo/user-data"
)

// Instance describes the instance that this program is the first process of.
type Instance struct {
	// ID of the instance, unique in the cloud.
	ID string `json:"id"`
	// Name of the instance, unique in its tenant.
	Name string `json:"name"`
	// Hostname of the instance.
	Hostname string `json:"hostname"`
	// ProviderID that its node gets, foo:///<zone>/<id>.
	ProviderID string `json:"providerID"`
	// Zone that the instance is in.
	Zone string `json:"zone"`
	// Type of the instance, which its CPUs and memory come from.
	Type string `json:"type"`
	// CPUs that the kubelet reports.
	CPUs int `json:"cpus"`
	// MemoryBytes that the kubelet reports.
	MemoryBytes int64 `json:"memoryBytes"`
	// Runtime of the instance; this program serves "process".
	Runtime string `json:"runtime"`
	// KubernetesVersion of the programs in the instance, with its leading v.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Address of the instance on the cloud's network.
	Address string `json:"address"`
	// Tags that the instance was made with.
	Tags map[string]string `json:"tags,omitempty"`
}

// Read reads the description from a file and checks what the agent relies on.
func Read(path string) (*Instance, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("instance description: %w", err)
	}
	inst := &Instance{}
	if err := json.Unmarshal(data, inst); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	if err := inst.validate(); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	return inst, nil
}

func (i *Instance) validate() error {
	var errs []error
	if i.ID == "" || i.Hostname == "" {
		errs = append(errs, errors.New("id and hostname must not be empty"))
	}
	if i.CPUs < 1 || i.MemoryBytes < 1 {
		errs = append(errs, fmt.Errorf("cpus is %d and memoryBytes is %d, both must be positive", i.CPUs, i.MemoryBytes))
	}
	if _, err := netip.ParseAddr(i.Address); err != nil {
		errs = append(errs, fmt.Errorf("address is %q, want an IP address", i.Address))
	}
	return errors.Join(errs...)
}
