// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/cloudinit"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/kubelet"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/logfile"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const (
	// outputPath is where cloud-init writes the output of all commands.
	outputPath = "/var/log/cloud-init-output.log"
	// maxOutputSize is the size in bytes at which that log is rotated. One rotated log is kept.
	maxOutputSize = 10 << 20
)

// bootstrapFiles are the files that bootstrap reads and writes.
type bootstrapFiles struct {
	userData, output string
}

// bootstrap runs the bootstrap data and reports the result.
func (a *agent) bootstrap(ctx context.Context, files bootstrapFiles, console io.Writer) {
	data, err := os.ReadFile(files.userData)
	if err != nil {
		a.bootstrapFailed(err)
		return
	}
	config, err := cloudinit.Parse(data, a.metadata())
	if err != nil {
		a.bootstrapFailed(err)
		return
	}
	output, err := logfile.Open(files.output, maxOutputSize)
	if err != nil {
		a.bootstrapFailed(err)
		return
	}
	a.warnOf(a.reporter.SetBootstrap(contract.Bootstrap{State: contract.BootstrapRunning}))
	shown := &limited{output: console, limit: maxConsoleOutput}
	runner := cloudinit.NewRunner(a.table, io.MultiWriter(output, shown), []string{
		"PATH=" + contract.SearchPath,
		"HOME=/root",
		"LANG=C.UTF-8",
		"INSTANCE_ID=" + a.instance.ID,
	})
	joining, joined := context.WithCancel(ctx)
	defer joined()
	go a.hurryTLSBootstrap(joining)
	if failures := runner.Run(ctx, config, a.bootstrapFailed); failures > 0 {
		return
	}
	a.log.Info("Bootstrap data is done")
	a.warnOf(a.reporter.SetBootstrap(contract.Bootstrap{State: contract.BootstrapSucceeded}))
}

// hurryTLSBootstrap restarts the kubelet as soon as the API server that refused it would accept it.
// The kubelet would pause before it asks again, for 5 s on a control plane machine.
func (a *agent) hurryTLSBootstrap(ctx context.Context) {
	if kubelet.NewTLSBootstrap().Late(ctx) {
		a.log.Info("The API server now accepts the kubelet's token: restarting the kubelet")
		a.kubelet.Stop()
		a.kubelet.Start(ctx)
	}
}

func (a *agent) bootstrapFailed(err error) {
	a.log.Error("Bootstrap data failed", "error", err)
	a.warnOf(a.reporter.SetBootstrap(contract.Bootstrap{State: contract.BootstrapFailed, Message: err.Error()}))
	if a.end == nil {
		return
	}
	a.warnOf(leaveReason(a.terminationLog, err.Error()))
	a.end(&failure{err})
}

// failure is why the bootstrap data of an instance that ends then has failed.
type failure struct{ error }

// leaveReason writes why an instance ends, unless an earlier reason is there.
func leaveReason(path, reason string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("reason of the end: %w", err)
	}
	_, err = file.WriteString(reason)
	return errors.Join(err, file.Close())
}

func (a *agent) metadata() cloudinit.Metadata {
	return cloudinit.Metadata{
		InstanceID:   a.instance.ID,
		Hostname:     a.instance.Hostname,
		Address:      a.instance.Address,
		Zone:         a.instance.Zone,
		ProviderID:   a.instance.ProviderID,
		InstanceType: a.instance.Type,
	}
}
