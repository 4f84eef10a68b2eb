// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// readInstance reads what the cloud tells the instance about itself, and validates what the agent
// relies on.
func readInstance(path string) (*contract.Instance, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("instance description: %w", err)
	}
	inst := &contract.Instance{}
	if err := json.Unmarshal(data, inst); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	if err := validate(inst); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	return inst, nil
}

func validate(i *contract.Instance) error {
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
