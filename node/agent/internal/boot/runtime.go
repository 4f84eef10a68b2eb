// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/kubelet"
)

const (
	// runtimeConfigFolder is where containerd looks for settings beside its configuration file.
	runtimeConfigFolder = "/etc/containerd/conf.d"
	runtimeConfigFile   = "10-foo.toml"
	// restrictedRuntime has containers that should be killed last when memory runs out be killed no earlier than containerd itself. Without
	// the capability to have a process killed later than its parent, they could not start.
	restrictedRuntime = `[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
`
)

// runtimeSettings returns what containerd must be told of this instance, if anything.
func runtimeSettings() string {
	if mayProtect() {
		return ""
	}
	return restrictedRuntime
}

// kubeletSettings returns what the kubelet must be told of this instance, if anything.
func kubeletSettings() string {
	if mayProtect() {
		return ""
	}
	return kubelet.Unprotected
}

// configureRuntime leaves the settings for containerd in the folder. With none, those of an earlier boot are removed.
func configureRuntime(folder, settings string) error {
	path := filepath.Join(folder, runtimeConfigFile)
	var err error
	if settings == "" {
		err = os.Remove(path)
	} else {
		err = errors.Join(os.MkdirAll(folder, 0o750), os.WriteFile(path, []byte(settings), 0o600))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("configure containerd: %w", err)
	}
	return nil
}

// mayProtect reports whether processes may be protected from being killed for want of memory.
func mayProtect() bool {
	allowed, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_RESOURCE, 0, 0, 0)
	return err == nil && allowed == 1
}
