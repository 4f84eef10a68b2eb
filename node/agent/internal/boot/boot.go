// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/drain"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/kubelet"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/logfile"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/service"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/systemctl"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// stopGrace is how long each step of stopping an instance may take.
const stopGrace = 5 * time.Second

// quotedLines is how many lines of a log a message quotes.
const quotedLines = 5

// agent is this program in a running instance.
type agent struct {
	instance *contract.Instance
	log      *slog.Logger
	table    *process.Table
	reporter *report.Reporter
	runtime  *service.Service
	kubelet  *service.Service
	commands *systemctl.Server
	// end ends the instance if its bootstrap data fails, whose reason goes to the file
	// terminationLog; nil if the instance is to go on.
	end            context.CancelCauseFunc
	terminationLog string
}

// Run runs an instance from boot to stop. It returns nil when the instance was asked to stop and
// has stopped.
func Run(console io.Writer) error {
	asked, ignore := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT, unix.SIGPWR)
	defer ignore()
	asked, end := context.WithCancelCause(asked)
	defer end(nil)
	log := slog.New(slog.NewTextHandler(console, nil))
	if err := os.Setenv("PATH", contract.SearchPath); err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	reporter, err := report.New(contract.ReportDir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := &agent{log: log, table: process.NewTable(), reporter: reporter}
	if os.Getenv(contract.EndVariable) != "" {
		a.end, a.terminationLog = end, contract.TerminationLog
	}
	go a.table.Reap(ctx)
	if err := a.assemble(); err != nil {
		a.bootstrapFailed(fmt.Errorf("the instance cannot boot: %w", err))
		return err
	}
	go a.commands.Serve(ctx)
	go a.drain(asked)
	bootstrapped := make(chan struct{})
	go func() {
		defer close(bootstrapped)
		a.work(asked, console)
	}()
	<-asked.Done()
	log.Info("Instance stops", "cause", context.Cause(asked))
	a.warnOf(reporter.SetPhase(contract.PhaseStopping))
	a.stop()
	<-bootstrapped
	log.Info("Instance has stopped")
	if failed := (*failure)(nil); errors.As(context.Cause(asked), &failed) {
		return failed
	}
	return nil
}

// assemble creates everything that an instance consists of. Its errors are those that no instance
// can live with.
func (a *agent) assemble() error {
	var err error
	if a.instance, err = readInstance(contract.InstanceFile); err != nil {
		return err
	}
	if err := a.prepare(); err != nil {
		return err
	}
	if a.runtime, err = service.New(a.containerd()); err != nil {
		return err
	}
	if a.kubelet, err = service.New(a.kubeletService()); err != nil {
		return err
	}
	a.commands, err = systemctl.Listen(systemctl.Socket, []systemctl.Known{
		{Unit: a.runtime, Name: runtimeName, Description: "containerd container runtime", LogPath: runtimeLog},
		{Unit: a.kubelet, Name: kubeletName, Description: "kubelet: The Kubernetes Node Agent", LogPath: kubeletLog},
	}, a.log)
	return err
}

// work does what the instance exists for, until ctx is done.
func (a *agent) work(ctx context.Context, console io.Writer) {
	err := a.startRuntime(ctx)
	if kubelet.Configured() {
		go a.kubelet.Start(ctx)
	}
	if err != nil {
		a.bootstrapFailed(err)
		return
	}
	a.warnOf(a.reporter.SetPhase(contract.PhaseRunning))
	a.log.Info("Instance is up", "instance", a.instance.ID, "kubernetesVersion", a.instance.KubernetesVersion)
	a.bootstrap(ctx, bootstrapFiles{userData: contract.UserDataFile, output: outputPath}, console)
}

// startRuntime starts containerd and returns once it answers, because kubeadm and the kubelet do
// not wait for it.
func (a *agent) startRuntime(ctx context.Context) error {
	a.runtime.Start(ctx)
	if ctx.Err() != nil {
		return errors.New("the instance was stopped before its container runtime had started")
	}
	if state, _ := a.runtime.Active(); state == string(service.Active) {
		return nil
	}
	lines, err := logfile.Tail(runtimeLog, quotedLines)
	if err != nil {
		lines = []string{err.Error()}
	}
	if len(lines) == 0 {
		lines = []string{"it wrote nothing"}
	}
	return fmt.Errorf("containerd did not start: %s", strings.Join(lines, "\n"))
}

// drain makes the clients of an API server go elsewhere once load balancers no longer use the instance,
// if the cloud leaves that to it.
func (a *agent) drain(ctx context.Context) {
	port := os.Getenv(contract.PortVariable)
	own, err := netip.ParseAddr(a.instance.Address)
	if port == "" || err != nil {
		return
	}
	if drain.Await(ctx, filepath.Join(contract.IdentityDir, contract.IdentityBalanced)) {
		a.log.Info("Load balancers no longer use this instance: closing the connections of its clients", "port", port)
		a.warnOf(drain.Disconnect(ctx, a.table, port, own))
	}
}

// stop ends everything in the instance.
func (a *agent) stop() {
	a.kubelet.Close()
	pods := newPods("/proc", tasksFolder)
	if state, _ := a.runtime.Active(); state != string(service.Active) {
		pods.folders = nil // nobody would remove them
	}
	a.warnOf(pods.end(stopGrace))
	a.runtime.Close()
	// These are processes that bootstrap data or users left running.
	a.warnOf(a.table.KillAll(stopGrace))
}

// warnOf logs an error that the instance can live with.
func (a *agent) warnOf(err error) {
	if err != nil {
		a.log.Warn("Something does not work in this instance", "error", err)
	}
}

// readInstance reads what the cloud tells the instance about itself, and validates what the agent
// relies on.
func readInstance(path string) (*contract.Instance, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("instance description: %w", err)
	}
	inst := &contract.Instance{}
	if err := json.Unmarshal(data, inst); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	if err := validate(inst); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	return inst, nil
}

func validate(i *contract.Instance) error {
	var errs []error
	if i.ID == "" || i.Hostname == "" {
		errs = append(errs, errors.New("id and hostname must not be empty"))
	}
	if i.CPUs < 1 || i.MemoryBytes < 1 {
		errs = append(errs, fmt.Errorf("cpus is %d and memoryBytes is %d, both must be positive", i.CPUs, i.MemoryBytes))
	}
	if _, err := netip.ParseAddr(i.Address); err != nil {
		errs = append(errs, fmt.Errorf("address is %q, but must be an IP address", i.Address))
	}
	return errors.Join(errs...)
}
