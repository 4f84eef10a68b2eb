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

// config is what every kubelet in an instance needs, whatever template its cluster was created
// from.
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

// Unprotected is a setting for a kubelet that may not lower its own OOM score. Without it, the
// kubelet would keep trying for 0.2 s at each start.
const Unprotected = "oomScoreAdj: 0\n"

// WriteConfig writes the configuration that every kubelet in an instance needs, plus the given
// settings, to the folder, which is ConfigFolder.
func WriteConfig(folder, settings string) error {
	path := filepath.Join(folder, configName)
	config := config + settings
	if is, err := os.ReadFile(path); err == nil && bytes.Equal(is, []byte(config)) {
		return nil
	}
	// It contains no secret, and the folder belongs to the operating system.
	const folderMode, fileMode = 0o755, 0o644
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("configuration of the kubelet: %w", err)
	}
	if err := os.WriteFile(path, []byte(config), fileMode); err != nil {
		return fmt.Errorf("configuration of the kubelet: %w", err)
	}
	return nil
}
