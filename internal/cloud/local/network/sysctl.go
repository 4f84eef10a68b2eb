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

package network

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const sysctlRoot = "/proc/sys"

// needed are the settings of the host that instances need, and what each must be. Where two clouds share a host, the
// one that changed a setting restores it when it is destroyed, whatever the other still needs.
var needed = map[string]setting{
	// With this one on, the host's packet filter decides about every packet on a bridge, and drops most where Docker or a
	// firewall is installed.
	"net/bridge/bridge-nf-call-iptables": {value: "0", fits: func(have string) bool { return have == "0" }},
	// All instances share root's limits, and each kubelet, API server and load balancer watches files. The kernel's
	// default of 128 instances is used up by a handful of clusters.
	"fs/inotify/max_user_instances": atLeast(8192),
	"fs/inotify/max_user_watches":   atLeast(524288),
}

// setting is what a setting of the host is set to, unless the value that it has fits.
type setting struct {
	value string
	fits  func(have string) bool
}

func atLeast(least int) setting {
	return setting{value: strconv.Itoa(least), fits: func(have string) bool {
		value, err := strconv.Atoi(have)
		return err == nil && value >= least
	}}
}

// Settings returns the settings that need another value, with the value that each has now.
func Settings() (map[string]string, error) {
	found := map[string]string{}
	for name, want := range needed {
		text, err := os.ReadFile(filepath.Join(sysctlRoot, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read setting %s: %w", name, err)
		}
		if have := strings.TrimSpace(string(text)); !want.fits(have) {
			found[name] = have
		}
	}
	return found, nil
}

// Apply gives the settings the values that are needed. Note what Settings returned first, to restore it.
func Apply(settings map[string]string) error {
	for name := range settings {
		if err := write(name, needed[name].value); err != nil {
			return err
		}
	}
	return nil
}

// Restore gives the settings the values that they had.
func Restore(settings map[string]string) error {
	for name, value := range settings {
		if err := write(name, value); err != nil {
			return err
		}
	}
	return nil
}

func write(name, value string) error {
	if err := os.WriteFile(filepath.Join(sysctlRoot, name), []byte(value), 0o600); err != nil {
		return fmt.Errorf("set %s to %s: %w", name, value, err)
	}
	return nil
}
