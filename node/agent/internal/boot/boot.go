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
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/cri"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/instance"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/kubelet"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/podip"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/simulate"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/systemctl"
)

const (
	// programs is where the cloud puts the Kubernetes programs of the instance's version.
	programs = "/opt/foo/kubernetes"
	// searchPath is PATH of everything in an instance: its own programs come before the machine's.
	searchPath = programs + ":/opt/foo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

	// stopGrace is how long each step of the end of an instance may take.
	stopGrace = 5 * time.Second
)

// machine is the running instance.
type machine struct {
	instance *instance.Instance
	log      *slog.Logger
	table    *process.Table
	reporter *report.Reporter
	runtime  *cri.Runtime
	kubelet  *kubelet.Unit
	commands *systemctl.Server
	answerer *simulate.Answerer
}

// Run is the whole life of an instance. It returns nil when the instance was asked to end and did so.
func Run(console io.Writer) error {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, unix.SIGTERM, unix.SIGINT, unix.SIGPWR)
	log := slog.New(slog.NewTextHandler(console, nil))
	if err := os.Setenv("PATH", searchPath); err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	reporter, err := report.New(report.Folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	table := process.NewTable()
	go table.Reap(ctx)
	m, err := assemble(log, table, reporter)
	if err != nil {
		report := report.Bootstrap{State: report.Failed, Message: "the instance can not boot: " + err.Error()}
		if rerr := reporter.SetBootstrap(report); rerr != nil {
			log.Error("Can not report", "error", rerr)
		}
		return err
	}
	m.serve(ctx)
	m.warnOf(reporter.SetPhase(report.Running))
	bootstrapped := make(chan struct{})
	bootstrap, cancelBootstrap := context.WithCancel(ctx)
	defer cancelBootstrap()
	go func() {
		defer close(bootstrapped)
		m.bootstrap(bootstrap, console)
	}()
	log.Info("Instance is up", "instance", m.instance.ID, "kubernetesVersion", m.instance.KubernetesVersion)
	received := <-stopped
	log.Info("Instance stops", "signal", received.String())
	m.warnOf(reporter.SetPhase(report.Stopping))
	cancelBootstrap()
	m.stop()
	<-bootstrapped
	log.Info("Instance has stopped")
	return nil
}

// assemble makes everything that an instance consists of.
func assemble(log *slog.Logger, table *process.Table, reporter *report.Reporter) (*machine, error) {
	inst, err := instance.Read(instance.File)
	if err != nil {
		return nil, err
	}
	m := &machine{instance: inst, log: log, table: table, reporter: reporter}
	m.warnOf(setKernel())
	m.warnOf(setCgroups())
	if m.answerer, err = simulate.Listen(); err != nil {
		return nil, err
	}
	address, err := netip.ParseAddr(inst.Address)
	if err != nil {
		return nil, fmt.Errorf("address of instance: %w", err)
	}
	fallback := podip.Fallback(address)
	network := simulate.NewNetwork(m.answerer.Port())
	if err := network.Serve([]netip.Prefix{fallback}); err != nil {
		log.Warn("Simulated pods do not answer", "error", err)
		m.warnOf(reporter.Warn("simulated pods do not answer: " + err.Error()))
	}
	m.runtime, err = cri.New(cri.Config{
		Address:   address,
		Programs:  programs,
		Path:      searchPath,
		Starter:   table,
		Addresses: podip.NewPool(fallback),
		Network:   network,
		Answerer:  m.answerer,
		Log:       log,
	})
	if err != nil {
		return nil, err
	}
	m.kubelet, err = kubelet.New(kubelet.Config{
		Instance: inst,
		Program:  filepath.Join(programs, "kubelet"),
		Path:     searchPath,
		Starter:  table,
		Log:      log,
	})
	if err != nil {
		return nil, err
	}
	m.commands, err = systemctl.Listen(systemctl.Socket, m.kubelet, log)
	return m, err
}

// serve starts to answer: when it returns, clients can connect to all sockets.
func (m *machine) serve(ctx context.Context) {
	go m.answerer.Serve(ctx)
	go m.commands.Serve(ctx)
	listener, err := cri.Listen(cri.Socket)
	if err != nil {
		m.warnOf(err)
		return
	}
	go func() { m.warnOf(m.runtime.Serve(listener)) }()
	if kubelet.Configured() {
		go m.kubelet.Start(ctx)
	}
}

// stop ends everything in the instance.
func (m *machine) stop() {
	m.kubelet.Stop()
	m.runtime.Close(context.Background(), stopGrace)
	// What bootstrap data or users left running.
	m.warnOf(m.table.KillAll(stopGrace))
}

// warnOf logs an error that the instance can live with.
func (m *machine) warnOf(err error) {
	if err != nil {
		m.log.Warn("Something does not work in this instance", "error", err)
	}
}
