// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/process"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
	// publicFileMode is that of files that become files of an instance, where everybody may read them.
	publicFileMode os.FileMode = 0o644
	// publicMode is that of folders that become folders of an instance, where not only root must get in.
	publicMode os.FileMode = 0o755
)

// stopGrace is how long a machine may take to end when it is asked to: the agent gives each of its steps 5 seconds.
const stopGrace = 30 * time.Second

// thawInterval is how often what an instance freezes is thawed while the instance is killed.
const thawInterval = 100 * time.Millisecond

// Options are what a driver needs.
type Options struct {
	// StateDir of the daemon, an absolute path without symbolic links.
	StateDir string
	// SystemDir holds the operating system of instances, which they share and cannot change.
	SystemDir string
	// ImagesDir holds one folder per Kubernetes version.
	ImagesDir string
	// AgentDir holds foonode and its links, in the folders in which an instance has them.
	AgentDir string
	// Runtime is the program of the OCI runtime, as runc.
	Runtime string
	// Network of the instances.
	Network netip.Prefix
	// Bridge that the instances' cards are put on.
	Bridge *network.Bridge
	// UserNamespaces has new instances have users of their own, who are nobody on the host.
	UserNamespaces bool
	// LimitDisks has new instances have a disk of the size of their type, where that has one.
	LimitDisks bool
	// Mirror that instances pull images from first; nil if there is none.
	Mirror *Mirror
}

// Mirror stands for all registries.
type Mirror struct {
	// Endpoint is its URL, https://address:port.
	Endpoint string
	// CA is the certificates, in PEM form, that it is verified with.
	CA []byte
}

// Driver makes machines on this host.
type Driver struct {
	options    Options
	containers containers
	reports    *reports

	// making is held while a layer is made that instances share.
	making sync.Mutex
	// consoles holds, by the ID of each machine, a channel that is closed once all that it said is kept.
	consoles sync.Map
	// starts has room for those that may start at once: more would take longer, and in the end too long.
	starts chan struct{}
}

var _ engine.Machines = &Driver{}

// NewDriver returns a driver, after it has removed what is left of instances that are not among the known IDs.
func NewDriver(ctx context.Context, options Options, known []string) (*Driver, error) {
	folder := filepath.Join(options.StateDir, "instances")
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the instances: %w", err)
	}
	all := containers{program: options.Runtime, state: filepath.Join(options.StateDir, "containers")}
	if err := all.forgetEarlierBoot(); err != nil {
		return nil, err
	}
	if err := all.removeStray(ctx, known); err != nil {
		return nil, err
	}
	if err := removeStray(folder, known); err != nil {
		return nil, err
	}
	if err := options.Bridge.RemoveStrayCards(known); err != nil {
		return nil, err
	}
	d := &Driver{options: options, containers: all, starts: make(chan struct{}, startsPerCPU*runtime.NumCPU())}
	if err := d.removeUnusedLayers(known); err != nil {
		return nil, err
	}
	var err error
	d.reports, err = newReports()
	return d, err
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
		if err := removeFolder(filepath.Join(folder, entry.Name())); err != nil {
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
	found, err := d.attach(id, handle)
	if err != nil {
		handle.Close()
	}
	return found, err
}

func (d *Driver) attach(id string, handle *process.Handle) (engine.Machine, error) {
	reports, err := d.reports.watch(id, d.folder(id))
	if err != nil {
		return nil, err
	}
	kept, err := followConsole(d.folder(id), handle.Done())
	if err != nil {
		return nil, err
	}
	d.consoles.Store(id, kept)
	return &machine{Handle: handle, reports: reports}, nil
}

// Kill ends a machine at once; see engine.Machines.
func (d *Driver) Kill(ctx context.Context, id string, identity *process.Identity) error {
	return withFirst(identity, func(first *process.Handle) error { return kill(ctx, id, first) })
}

// withFirst does something to the first process of a machine, if there is one.
func withFirst(identity *process.Identity, do func(*process.Handle) error) error {
	if identity == nil {
		return nil
	}
	first, err := process.Find(*identity)
	if errors.Is(err, process.ErrGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the first process: %w", err)
	}
	defer first.Close()
	return do(first)
}

// Stop asks a machine to end; see engine.Machines.
func (d *Driver) Stop(ctx context.Context, id string, identity *process.Identity) error {
	return withFirst(identity, func(first *process.Handle) error { return stop(ctx, id, first) })
}

func stop(ctx context.Context, id string, handle *process.Handle) error {
	// One that is frozen would hear of it only later.
	if err := errors.Join(thaw(id), handle.Signal(unix.SIGTERM)); err != nil {
		return fmt.Errorf("stop the first process: %w", err)
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-handle.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return kill(ctx, id, handle)
	}
}

// Freeze has the processes of a machine stand still; see engine.Machines.
func (d *Driver) Freeze(id string) error { return freeze(id) }

// Thaw has them go on; see engine.Machines.
func (d *Driver) Thaw(id string) error { return thaw(id) }

// kill kills the first process of an instance, and with it all others. Processes that the instance has frozen end once they are thawed,
// so that is done again and again until all have ended.
func kill(ctx context.Context, id string, handle *process.Handle) error {
	tick := time.NewTicker(thawInterval)
	defer tick.Stop()
	for {
		if err := errors.Join(handle.Signal(unix.SIGKILL), thaw(id)); err != nil {
			return fmt.Errorf("kill the first process: %w", err)
		}
		select {
		case <-handle.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Remove ends a machine at once and removes all of it; see engine.Machines. Nothing that it could still write would be kept.
func (d *Driver) Remove(ctx context.Context, id string, identity *process.Identity) error {
	if err := d.removeVolatile(ctx, id, identity); err != nil {
		return err
	}
	return removeFolder(d.folder(id))
}

// removeVolatile ends a machine at once and removes what does not outlive its processes. What the machine has written to its
// root stays where that lies on disk; where it lies in memory it is lost, and only the private folders stay.
func (d *Driver) removeVolatile(ctx context.Context, id string, identity *process.Identity) error {
	if err := d.Kill(ctx, id, identity); err != nil {
		return err
	}
	if err := d.containers.remove(ctx, id); err != nil {
		return err
	}
	if kept, ok := d.consoles.LoadAndDelete(id); ok {
		select {
		case <-kept.(<-chan struct{}):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.reports.forget(id)
	if err := d.options.Bridge.RemoveCard(cardName(id)); err != nil {
		return err
	}
	for _, name := range []string{workFolder, rootFolder, runFolder, reportFolder, identityFolder} {
		if err := removeMounted(filepath.Join(d.folder(id), name)); err != nil {
			return err
		}
	}
	return nil
}

// cardName returns the name of the host's end of an instance's card: at most 15 characters.
func cardName(id string) string { return network.CardPrefix + id }
