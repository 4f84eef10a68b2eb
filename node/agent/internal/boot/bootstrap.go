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
	"context"
	"io"
	"os"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/cloudinit"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/instance"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/logfile"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/report"
)

const (
	// outputPath is where cloud-init leaves the output of all commands.
	outputPath = "/var/log/cloud-init-output.log"
	// maxOutputSize of that log in bytes; as much again is kept of the one before.
	maxOutputSize = 10 << 20
)

// bootstrap works through the bootstrap data and reports how that went.
func (m *machine) bootstrap(ctx context.Context, console io.Writer) {
	data, err := os.ReadFile(instance.UserDataFile)
	if err != nil {
		m.bootstrapFailed(err)
		return
	}
	config, err := cloudinit.Parse(data, m.metadata())
	if err != nil {
		m.bootstrapFailed(err)
		return
	}
	output, err := logfile.Open(outputPath, maxOutputSize)
	if err != nil {
		m.bootstrapFailed(err)
		return
	}
	m.warnOf(m.reporter.SetBootstrap(report.Bootstrap{State: report.InProgress}))
	shown := &limited{output: console, limit: maxConsoleOutput}
	runner := cloudinit.NewRunner(m.table, io.MultiWriter(output, shown), []string{
		"PATH=" + searchPath,
		"HOME=/root",
		"LANG=C.UTF-8",
		"INSTANCE_ID=" + m.instance.ID,
	})
	if failures := runner.Run(ctx, config, m.bootstrapFailed); failures > 0 {
		return
	}
	m.log.Info("Bootstrap data is done")
	m.warnOf(m.reporter.SetBootstrap(report.Bootstrap{State: report.Succeeded}))
}

func (m *machine) bootstrapFailed(err error) {
	m.log.Error("Bootstrap data failed", "error", err)
	m.warnOf(m.reporter.SetBootstrap(report.Bootstrap{State: report.Failed, Message: err.Error()}))
}

func (m *machine) metadata() cloudinit.Metadata {
	return cloudinit.Metadata{
		InstanceID:   m.instance.ID,
		Hostname:     m.instance.Hostname,
		Address:      m.instance.Address,
		Zone:         m.instance.Zone,
		ProviderID:   m.instance.ProviderID,
		InstanceType: m.instance.Type,
	}
}
