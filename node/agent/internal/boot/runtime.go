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
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/service"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const (
	// runtimeConfigFolder is where containerd looks for settings in addition to its configuration
	// file.
	runtimeConfigFolder = "/etc/containerd/conf.d"
	runtimeConfigFile   = "10-foo.toml"
	// restrictedRuntime keeps the OOM score of containers from being lower than containerd's own.
	// Without the capability to lower OOM scores, containers that ask for a lower one could not
	// start.
	restrictedRuntime = `[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
`
)

// runtimeSettings returns the containerd settings specific to this instance, if any.
func runtimeSettings() string {
	if mayProtect() {
		return ""
	}
	return restrictedRuntime
}

// kubeletSettings returns the kubelet settings specific to this instance, if any.
func kubeletSettings() string {
	if mayProtect() {
		return ""
	}
	return kubelet.Unprotected
}

// configureRuntime writes the containerd settings to the folder. If there are none, it removes
// those of an earlier boot.
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

// mayProtect reports whether the instance may lower the OOM score of processes.
func mayProtect() bool {
	allowed, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_RESOURCE, 0, 0, 0)
	return err == nil && allowed == 1
}

// Services of an instance.
const (
	runtimeName = "containerd"
	runtimeLog  = "/var/log/containerd.log"
	kubeletName = "kubelet"
	kubeletLog  = "/var/log/kubelet.log"
)

// containerd configures the container runtime. When it is stopped or ends, pods keep running: their
// shims are not its children, and it finds them again.
func (a *agent) containerd() service.Config {
	return service.Config{
		Name:    runtimeName,
		Program: filepath.Join(contract.RuntimeDir, "containerd"),
		Args:    func() ([]string, error) { return []string{"--config", "/etc/containerd/config.toml"}, nil },
		Env:     serviceEnvironment(a.instance),
		LogPath: runtimeLog,
		Alone:   true,
		Folder:  contract.RunDir,
		Starter: a.table,
		Log:     a.log,
	}
}

func (a *agent) kubeletService() service.Config {
	return service.Config{
		Name:    kubeletName,
		Program: filepath.Join(contract.KubernetesDir, "kubelet"),
		Args:    func() ([]string, error) { return kubelet.Flags(a.instance) },
		Env:     serviceEnvironment(a.instance),
		LogPath: kubeletLog,
		Needs:   kubelet.ConfigFile,
		// As in Kubernetes' own packages: kubeadm itself waits for the kubelet where it needs to.
		Simple:  true,
		Folder:  contract.RunDir,
		Starter: a.table,
		Log:     a.log,
	}
}

// serviceEnvironment lets a service use half of the instance's CPUs at a time. Their work is short
// and rare, and a Go program with more CPUs wakes up more threads for the same work.
func serviceEnvironment(instance *contract.Instance) []string {
	return []string{"PATH=" + contract.SearchPath, "HOME=/root", fmt.Sprintf("GOMAXPROCS=%d", max(1, instance.CPUs/2))}
}
