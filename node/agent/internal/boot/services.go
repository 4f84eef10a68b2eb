// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"fmt"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/kubelet"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/service"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

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
