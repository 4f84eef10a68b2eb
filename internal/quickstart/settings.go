// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// identity returns the flags for the settings that must not change.
func (c Config) identity() string {
	flags := fmt.Sprintf("--network=%s --bridge=%s --cluster-name=%s --namespace=%s", c.Network, c.Bridge, c.ClusterName, c.Namespace)
	if c.Management {
		flags += " --management"
	}
	return flags
}

// Complete makes paths absolute, since a later run may be in another folder. A run that resumes a kept
// state takes from it what the user has not given.
func (c *Config) Complete(given func(flag string) bool) (err error) {
	if kept, err := readSettings(c.StateDir); err == nil && c.Resume {
		c.recall(kept, given)
		c.recallCluster(kept, given)
	}
	if c.CloudConfig != "" {
		c.CloudConfig, err = filepath.Abs(c.CloudConfig)
	}
	return err
}

// refuseOther returns an InvalidError if the user has given one of these flags a value that differs from
// the kept state.
func (c Config) refuseOther(flags ...string) error {
	kept, err := readSettings(c.StateDir)
	if err != nil || c.Given == nil {
		return err
	}
	if err := c.Complete(c.Given); err != nil {
		return err
	}
	values := map[string]struct{ wanted, kept string }{
		"network": {c.Network, kept.Network}, "bridge": {c.Bridge, kept.Bridge}, "cloud-config": {c.CloudConfig, kept.CloudConfig},
	}
	var wrong problems
	for _, flag := range flags {
		if value := values[flag]; c.Given(flag) && value.wanted != value.kept {
			wrong.add("--%s %s: the management cluster has %s; leave the flag out, or use another --state-dir", flag, value.wanted, cmp.Or(value.kept, "none"))
		}
	}
	return wrong.err()
}

func (c *Config) recall(kept Config, given func(flag string) bool) {
	for flag, value := range map[string]struct {
		current *string
		kept    string
	}{
		"network": {&c.Network, kept.Network}, "bridge": {&c.Bridge, kept.Bridge}, "cluster-name": {&c.ClusterName, kept.ClusterName},
		"namespace": {&c.Namespace, kept.Namespace}, "cloud-config": {&c.CloudConfig, kept.CloudConfig},
		"cloud-listen": {&c.CloudListen, kept.CloudListen}, "user-namespaces": {&c.UserNamespaces, kept.UserNamespaces},
	} {
		if !given(flag) {
			*value.current = value.kept
		}
	}
	for flag, value := range map[string]struct {
		current *bool
		kept    bool
	}{
		"management": {&c.Management, kept.Management}, "management-only": {&c.ManagementOnly, kept.ManagementOnly}, "extension": {&c.Extension, kept.Extension},
		"kubeadm-control-plane": {&c.KubeadmControlPlane, kept.KubeadmControlPlane}, "manager-per-provider": {&c.ManagerPerProvider, kept.ManagerPerProvider},
	} {
		if !given(flag) {
			*value.current = value.kept
		}
	}
	if !given("extension-settings") && c.Extension {
		c.ExtensionSettings = kept.ExtensionSettings
	}
}

// recallCluster takes from a kept state what its cluster has to be, if that has not been created yet. A release
// may lack the version of an earlier one, which noted nothing of this at first.
func (c *Config) recallCluster(kept Config, given func(flag string) bool) {
	if kept.KubernetesVersion == "" {
		return
	}
	if !given("kubernetes-version") && slices.Contains(c.builtVersions(), kept.KubernetesVersion) {
		c.KubernetesVersion = kept.KubernetesVersion
	}
	if !given("control-plane-machine-count") {
		c.ControlPlaneMachineCount = kept.ControlPlaneMachineCount
	}
	if !given("worker-machine-count") {
		c.WorkerMachineCount = kept.WorkerMachineCount
	}
}

// writeSettings writes the settings that a state folder keeps.
func writeSettings(config Config) error {
	content, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(config.StateDir, marker), append(content, '\n'))
}

// readSettings reads the settings that a state folder keeps.
func readSettings(dir string) (kept Config, err error) {
	content, err := os.ReadFile(filepath.Join(dir, marker))
	if err != nil {
		return kept, err
	}
	return kept, json.Unmarshal(content, &kept)
}
