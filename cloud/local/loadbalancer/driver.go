// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

const (
	folderMode = 0o700
	fileMode   = 0o600

	startTimeout = 10 * time.Second
	stopGrace    = time.Second
)

// Driver starts load balancer processes on this host.
type Driver struct {
	stateDir string
	bridge   *network.Bridge
}

var _ engine.Balancers = &Driver{}

// NewDriver returns a driver that keeps its files in the state folder and puts addresses on the bridge.
func NewDriver(stateDir string, bridge *network.Bridge) *Driver {
	return &Driver{stateDir: stateDir, bridge: bridge}
}

func (d *Driver) folder(id string) string { return filepath.Join(d.stateDir, "load-balancers", id) }

// Start starts a load balancer's process; see engine.Balancers.
func (d *Driver) Start(ctx context.Context, spec engine.BalancerSpec, commit engine.Commit) (engine.Process, error) {
	if err := os.MkdirAll(d.folder(spec.ID), folderMode); err != nil {
		return nil, fmt.Errorf("make the load balancer's folder: %w", err)
	}
	if err := writeJSON(filepath.Join(d.folder(spec.ID), configFile), config{Address: spec.Address, Port: spec.Port, TargetPort: spec.TargetPort}); err != nil {
		return nil, err
	}
	if err := d.SetBackends(spec.ID, spec.Backends); err != nil {
		return nil, err
	}
	if err := d.bridge.AddAddress(spec.Address); err != nil {
		return nil, err
	}
	s, err := d.spawn(spec.ID)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.listen(commit); err != nil {
		return nil, errors.Join(err, s.handle.Stop(context.WithoutCancel(ctx), 0))
	}
	return s.handle, nil
}

// started is a process that does not listen yet.
type started struct {
	handle  *process.Handle
	control *os.File
	status  *os.File
}

func (s *started) close() {
	_ = s.control.Close()
	_ = s.status.Close()
}

func (d *Driver) spawn(id string) (*started, error) {
	log, err := os.OpenFile(filepath.Join(d.folder(id), logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the load balancer's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	controlRead, controlWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _ = controlRead.Close() }()
	statusRead, statusWrite, err := os.Pipe()
	if err != nil {
		_ = controlWrite.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _ = statusWrite.Close() }()
	s := &started{control: controlWrite, status: statusRead}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"foocloud", Subcommand, d.folder(id)}, Env: []string{}, Dir: "/",
		Stdout: log, Stderr: log, ExtraFiles: []*os.File{controlRead, statusWrite},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := d.bridge.Do(cmd.Start); err != nil {
		s.close()
		return nil, fmt.Errorf("start the load balancer's process: %w", err)
	}
	if s.handle, err = process.Started(cmd); err != nil {
		s.close()
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return s, nil
}

// listen lets the process continue once its identity is stored, and waits until it listens.
func (s *started) listen(commit engine.Commit) error {
	if err := commit(s.handle.Identity()); err != nil {
		return fmt.Errorf("store the load balancer's process: %w", err)
	}
	_, err := s.control.WriteString(goAhead)
	if err = errors.Join(err, s.control.Close()); err != nil {
		return fmt.Errorf("let the load balancer continue: %w", err)
	}
	if err := s.status.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		return fmt.Errorf("limit the start: %w", err)
	}
	problem, err := io.ReadAll(s.status)
	if err != nil {
		return fmt.Errorf("wait for the load balancer: %w", err)
	}
	if len(problem) > 0 {
		return fmt.Errorf("start the load balancer: %s", strings.TrimSpace(string(problem)))
	}
	return nil
}

// Find returns a process that was started before; see engine.Balancers.
func (d *Driver) Find(_ string, identity process.Identity) (engine.Process, error) {
	handle, err := process.Find(identity)
	if err != nil {
		return nil, err
	}
	return handle, nil
}

// SetBackends gives the process a new set of backends; see engine.Balancers.
func (d *Driver) SetBackends(id string, backends []cloud.Backend) error {
	return writeJSON(filepath.Join(d.folder(id), backendsFile), backends)
}

// Remove stops the process and removes its files and address; see engine.Balancers.
func (d *Driver) Remove(ctx context.Context, spec engine.BalancerSpec, identity *process.Identity) error {
	if identity != nil {
		if err := stop(ctx, *identity); err != nil {
			return fmt.Errorf("stop the load balancer: %w", err)
		}
	}
	if err := d.bridge.RemoveAddress(spec.Address); err != nil {
		return err
	}
	if err := os.RemoveAll(d.folder(spec.ID)); err != nil {
		return fmt.Errorf("remove the load balancer's files: %w", err)
	}
	return nil
}

func stop(ctx context.Context, identity process.Identity) error {
	handle, err := process.Find(identity)
	if errors.Is(err, process.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	return handle.Stop(ctx, stopGrace)
}

// writeJSON replaces a file atomically, so that a reader never sees half of it.
func writeJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", text, fileMode); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
