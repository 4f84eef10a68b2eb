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

package boot

import (
	"errors"
	"fmt"
	"os"
)

// settings of the instance's network namespace that kubeadm's checks ask for. IPv6 may be absent from the kernel.
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
