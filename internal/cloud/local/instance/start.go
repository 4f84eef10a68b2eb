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

package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/store"
)

// startTimeout is how long the child may take to become the node agent.
const startTimeout = 30 * time.Second

const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET

// child is a started child that is not the node agent yet.
type child struct {
	cmd     *exec.Cmd
	handle  *process.Handle
	control *os.File
	status  *os.File
}

// Start makes a machine; see engine.Machines.
func (d *Driver) Start(ctx context.Context, spec engine.MachineSpec, commit engine.Commit) (engine.Machine, error) {
	remove := d.Remove
	if spec.KeepDisk {
		remove = d.removeVolatile
	}
	if err := remove(ctx, spec.ID, nil); err != nil {
		return nil, fmt.Errorf("remove what an earlier start left: %w", err)
	}
	if err := d.prepare(spec.ID); err != nil {
		return nil, err
	}
	c, err := d.spawn(spec)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := d.boot(c, spec, commit); err != nil {
		return nil, errors.Join(err, c.kill(ctx))
	}
	return d.attach(spec.ID, c.handle)
}

func (d *Driver) prepare(id string) error {
	folder := d.folder(id)
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("make the instance's folder: %w", err)
	}
	folders := slices.Collect(maps.Keys(privateDirs))
	for i, name := range folders {
		folders[i] = filepath.Join(privateFolder, name)
	}
	for _, name := range append(folders, "upper", "work", "root", "report") {
		if err := os.MkdirAll(filepath.Join(folder, name), publicMode); err != nil {
			return fmt.Errorf("make the instance's folder: %w", err)
		}
	}
	return nil
}

// spawn starts this program again in new namespaces. It waits there for its configuration.
func (d *Driver) spawn(spec engine.MachineSpec) (*child, error) {
	console, err := os.OpenFile(filepath.Join(d.folder(spec.ID), consoleFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the console log: %w", err)
	}
	defer func() { _ = console.Close() }()
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

	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"foocloud", Subcommand}, Env: []string{"PATH=" + searchPath}, Dir: "/",
		Stdout: console, Stderr: console, ExtraFiles: []*os.File{controlRead, statusWrite},
		SysProcAttr: &unix.SysProcAttr{Cloneflags: namespaces, Setsid: true},
	}
	c := &child{cmd: cmd, control: controlWrite, status: statusRead}
	if err := cmd.Start(); err != nil {
		c.close()
		return nil, fmt.Errorf("start a process in new namespaces: %w", err)
	}
	c.handle, err = process.Started(cmd)
	if err != nil {
		c.close()
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return c, nil
}

// boot gives the child what it needs, in the order that lets both sides work at the same time.
func (d *Driver) boot(c *child, spec engine.MachineSpec, commit engine.Commit) error {
	if err := errors.Join(c.status.SetReadDeadline(time.Now().Add(startTimeout)),
		c.control.SetWriteDeadline(time.Now().Add(startTimeout))); err != nil {
		return fmt.Errorf("limit the start: %w", err)
	}
	sent := make(chan error, 1)
	go func() { sent <- json.NewEncoder(c.control).Encode(d.config(spec)) }()
	pair := network.Card{Name: cardName(spec.ID), PeerName: card, PID: c.handle.Identity().PID}
	err := errors.Join(d.options.Bridge.AddCard(pair), commit(c.handle.Identity()), <-sent)
	if err != nil {
		return fmt.Errorf("prepare the instance: %w", err)
	}
	if _, err := c.control.Write([]byte{goAhead}); err != nil {
		return fmt.Errorf("let the instance go on: %w", err)
	}
	// The child's end closes when it becomes the node agent.
	problem, err := io.ReadAll(c.status)
	if err != nil {
		return fmt.Errorf("wait for the node agent: %w", err)
	}
	if len(problem) > 0 {
		return fmt.Errorf("build the instance: %s", strings.TrimSpace(string(problem)))
	}
	return nil
}

func (d *Driver) config(spec engine.MachineSpec) config {
	return config{
		Folder: d.folder(spec.ID), StateDir: d.options.StateDir, AgentDir: d.options.AgentDir,
		ImageDir: filepath.Join(d.options.ImagesDir, spec.KubernetesVersion),
		Address:  fmt.Sprintf("%s/%d", spec.Address, d.options.Network.Bits()),
		Gateway:  store.Gateway(d.options.Network).String(),
		Metadata: metadata{
			ID: spec.ID, Name: spec.Name, Hostname: spec.Hostname, ProviderID: spec.ProviderID, Zone: spec.Zone,
			Type: spec.Type, CPUs: spec.CPUs, MemoryBytes: spec.MemoryBytes, Runtime: spec.Runtime,
			KubernetesVersion: spec.KubernetesVersion, Address: spec.Address, Tags: spec.Tags,
		},
		UserData: spec.UserData,
	}
}

func (c *child) close() {
	_ = c.control.Close()
	_ = c.status.Close()
}

func (c *child) kill(ctx context.Context) error {
	return c.handle.Stop(context.WithoutCancel(ctx), 0)
}
