// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// configName is the file in ConfigFolder that this program writes.
const configName = "10-foo.conf"

// config is what each kubelet in an instance needs, whatever template its cluster was made from.
const config = `# Written by Foo's node agent. Files 20-*.conf beside this one change what is set here.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
# The instance has the cgroups of its host, in whatever version.
failCgroupV1: false
# The disk is the host's: how full that is says nothing about the instance, which must not drop images or evict pods for it.
imageGCHighThresholdPercent: 100
evictionHard:
  memory.available: 100Mi
  nodefs.available: "0%"
  nodefs.inodesFree: "0%"
  imagefs.available: "0%"
  imagefs.inodesFree: "0%"
`

// Unprotected is a setting for where the kernel does not let the kubelet protect itself from being killed when memory runs out: it would
// try for 0.2 s at each start.
const Unprotected = "oomScoreAdj: 0\n"

// WriteConfig writes what each kubelet in an instance needs to the folder, which is ConfigFolder, and the settings that this one needs.
func WriteConfig(folder, settings string) error {
	path := filepath.Join(folder, configName)
	config := config + settings
	if is, err := os.ReadFile(path); err == nil && bytes.Equal(is, []byte(config)) {
		return nil
	}
	// No secret is in it, and the folder is one of the operating system's.
	const folderMode, fileMode = 0o755, 0o644
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("configuration of the kubelet: %w", err)
	}
	if err := os.WriteFile(path, []byte(config), fileMode); err != nil {
		return fmt.Errorf("configuration of the kubelet: %w", err)
	}
	return nil
}
