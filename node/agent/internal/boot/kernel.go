// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"errors"
	"fmt"
	"os"
)

// settings are the settings of the instance's network namespace that kubeadm's preflight checks
// require. The kernel may lack IPv6.
var settings = []struct {
	path     string
	optional bool
}{
	{path: "/proc/sys/net/ipv4/ip_forward"},
	{path: "/proc/sys/net/ipv6/conf/default/forwarding", optional: true},
	{path: "/proc/sys/net/ipv6/conf/all/forwarding", optional: true},
}

func setKernel() error {
	var errs []error
	for _, setting := range settings {
		err := os.WriteFile(setting.path, []byte("1\n"), 0)
		if err != nil && (!setting.optional || !errors.Is(err, os.ErrNotExist)) {
			errs = append(errs, fmt.Errorf("kernel setting: %w", err))
		}
	}
	return errors.Join(errs...)
}
