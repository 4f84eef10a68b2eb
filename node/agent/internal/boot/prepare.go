// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"errors"
	"fmt"
	"os"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/images"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/kubelet"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/machine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// prepare sets up the machine that programs in the instance expect. It returns an error only for
// what they cannot do without: the kubelet would not start, or it would report the host's size, and
// the instance would get pods that it has no room for. Everything else is reported as a warning.
func (a *agent) prepare() error {
	for _, step := range []func() error{
		func() error { return machine.DelegateCgroups(machine.Cgroups) },
		machine.ShareMounts,
		machine.RaiseFileLimit,
		func() error { return machine.LinkRun("/var/run", "/run") },
		setKernel,
		func() error { return configureRuntime(runtimeConfigFolder, runtimeSettings()) },
		func() error { return kubelet.WriteConfig(kubelet.ConfigFolder, kubeletSettings()) },
		func() error { return kubelet.WriteServingCertificate(kubelet.PKIFolder, a.instance.Hostname) },
	} {
		a.reportOf(step())
	}
	if err := images.Preload(contract.StoreDir, images.Root); err != nil {
		return err
	}
	return machine.Show(machine.Folder, machine.Size{CPUs: a.instance.CPUs, MemoryBytes: a.instance.MemoryBytes})
}

// reportOf logs an error that the instance can live with, and reports it to the cloud.
func (a *agent) reportOf(err error) {
	if err == nil {
		return
	}
	a.warnOf(err)
	a.warnOf(a.reporter.Warn(err.Error()))
}

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
