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
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/process"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
	// publicMode is that of folders that become folders of an instance, where not only root must get in.
	publicMode os.FileMode = 0o755

	privateFolder = "private"

	consoleFile = "console.log"
	reportFile  = "status.json"
)

// Options are what a driver needs.
type Options struct {
	// StateDir of the daemon, an absolute path without symbolic links.
	StateDir string
	// ImagesDir holds one folder per Kubernetes version.
	ImagesDir string
	// AgentDir holds foonode and its links.
	AgentDir string
	// Network of the instances.
	Network netip.Prefix
	// Bridge that the instances' cards are put on.
	Bridge *network.Bridge
}

// Driver makes machines on this host.
type Driver struct {
	options Options
	reports *reports
}

var _ engine.Machines = &Driver{}

// NewDriver returns a driver, after it has removed what is left of instances that are not among the known IDs.
func NewDriver(options Options, known []string) (*Driver, error) {
	folder := filepath.Join(options.StateDir, "instances")
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the instances: %w", err)
	}
	if err := removeStray(folder, known); err != nil {
		return nil, err
	}
	if err := options.Bridge.RemoveStrayCards(known); err != nil {
		return nil, err
	}
	reports, err := newReports()
	if err != nil {
		return nil, err
	}
	return &Driver{options: options, reports: reports}, nil
}

func removeStray(folder string, known []string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("read the folder of the instances: %w", err)
	}
	for _, entry := range entries {
		if slices.Contains(known, entry.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
			return fmt.Errorf("remove what is left of instance %s: %w", entry.Name(), err)
		}
	}
	return nil
}

// Close stops watching; machines run on.
func (d *Driver) Close() error { return d.reports.close() }

// machine is one that runs.
type machine struct {
	*process.Handle
	reports <-chan cloud.Bootstrap
}

func (m *machine) Reports() <-chan cloud.Bootstrap { return m.reports }

func (d *Driver) folder(id string) string { return filepath.Join(d.options.StateDir, "instances", id) }

// Find returns a machine that was started before; see engine.Machines.
func (d *Driver) Find(id string, identity process.Identity) (engine.Machine, error) {
	handle, err := process.Find(identity)
	if err != nil {
		return nil, err
	}
	return d.attach(id, handle)
}

func (d *Driver) attach(id string, handle *process.Handle) (engine.Machine, error) {
	reports, err := d.reports.watch(id, d.folder(id))
	if err != nil {
		handle.Close()
		return nil, err
	}
	return &machine{Handle: handle, reports: reports}, nil
}

// Kill ends a machine at once; see engine.Machines.
func (d *Driver) Kill(ctx context.Context, _ string, identity *process.Identity) error {
	if identity == nil {
		return nil
	}
	handle, err := process.Find(*identity)
	if errors.Is(err, process.ErrGone) {
		return nil
	}
	if err == nil {
		err = handle.Kill(ctx)
	}
	if err != nil {
		return fmt.Errorf("kill the first process: %w", err)
	}
	return nil
}

// Remove ends a machine at once and removes all of it; see engine.Machines. Nothing that it could still write would be kept.
func (d *Driver) Remove(ctx context.Context, id string, identity *process.Identity) error {
	if err := d.Kill(ctx, id, identity); err != nil {
		return err
	}
	d.reports.forget(id)
	if err := d.options.Bridge.RemoveCard(cardName(id)); err != nil {
		return err
	}
	if err := os.RemoveAll(d.folder(id)); err != nil {
		return fmt.Errorf("remove the files: %w", err)
	}
	return nil
}

// removeVolatile removes what does not outlive the processes of a machine, which have ended. What the machine has written to its
// root stays where that lies on disk; where it lies in memory it is lost, and only the private folders stay.
func (d *Driver) removeVolatile(_ context.Context, id string, _ *process.Identity) error {
	d.reports.forget(id)
	if err := d.options.Bridge.RemoveCard(cardName(id)); err != nil {
		return err
	}
	// The kernel takes no layer a second time whose work folder says that it was volatile.
	for _, name := range []string{"work", "root", "report"} {
		if err := os.RemoveAll(filepath.Join(d.folder(id), name)); err != nil {
			return fmt.Errorf("remove the files: %w", err)
		}
	}
	return nil
}

// cardName returns the name of the host's end of an instance's card: at most 15 characters.
func cardName(id string) string { return network.CardPrefix + id }
