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

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
	// publicFileMode is the mode of files that appear in an instance, where everybody may read
	// them.
	publicFileMode os.FileMode = 0o644
	// publicMode is the mode of folders that appear in an instance, where non-root users must be
	// able to enter them.
	publicMode os.FileMode = 0o755
)

// stopGrace is how long a machine may take to end when asked to. The agent allows 5 seconds for
// each of its steps.
const stopGrace = 30 * time.Second

// thawInterval is how often an instance is thawed while it is being killed, in case it freezes its
// own processes.
const thawInterval = 100 * time.Millisecond

// Options configures a Driver.
type Options struct {
	// StateDir is the daemon's state folder, an absolute path without symbolic links.
	StateDir string
	// SystemDir holds the operating system of instances, which they share and cannot change.
	SystemDir string
	// ImagesDir holds one folder per image; see ImageFolder.
	ImagesDir string
	// AgentDir holds foonode and its links, laid out as in an instance.
	AgentDir string
	// Runtime is the OCI runtime program, for example runc.
	Runtime string
	// Network is the address range of the instances.
	Network netip.Prefix
	// Bridge is where the instances' network cards are attached.
	Bridge *network.Bridge
	// Nameserver is the address of the instances' name server.
	Nameserver netip.Addr
	// UserNamespaces gives each new instance a user namespace, whose users have no rights on the
	// host.
	UserNamespaces bool
	// Mirror is where instances first try to pull images from; nil if there is none.
	Mirror *Mirror
}

// Mirror is a mirror of all image registries.
type Mirror struct {
	// Endpoint is its URL, https://address:port.
	Endpoint string
	// CA holds the PEM-encoded certificates that verify the endpoint.
	CA []byte
}

// Driver runs machines on this host.
type Driver struct {
	options    Options
	containers containers
	reports    *reports

	// making is held while something that instances share is created.
	making sync.Mutex
	// consoles maps a machine's ID to a channel that is closed once all of its console output is
	// stored.
	consoles sync.Map
	// unmounts ends those who keep a disk from being unmounted.
	unmounts unmounts
	commands *commands
	// starts limits how many machines start concurrently. With more, each start would take longer
	// and eventually time out.
	starts chan struct{}
}

var _ engine.Machines = &Driver{}

// NewDriver returns a driver. It first removes what is left of instances whose IDs are not in
// known.
func NewDriver(ctx context.Context, options Options, known []string) (*Driver, error) {
	folder := filepath.Join(options.StateDir, "instances")
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the instances: %w", err)
	}
	all := containers{program: options.Runtime, state: filepath.Join(options.StateDir, "containers")}
	if err := all.forgetEarlierBoot(); err != nil {
		return nil, err
	}
	if err := all.removeLogs(); err != nil {
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
	d := &Driver{options: options, containers: all, commands: newCommands(), starts: make(chan struct{}, startsPerCPU*runtime.NumCPU())}
	if err := d.removeUnusedLayers(known); err != nil {
		return nil, err
	}
	// This version may create file systems in another way than an earlier one.
	if err := os.RemoveAll(filepath.Join(options.StateDir, emptyDisks)); err != nil {
		return nil, fmt.Errorf("remove the empty disks of an earlier run: %w", err)
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

// Close waits for commands whose callers have gone to be killed, and stops watching reports.
// Machines keep running.
func (d *Driver) Close() error {
	ended := make(chan struct{})
	go func() {
		d.commands.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(commandsEnd):
	}
	return d.reports.close()
}

// machine is a running machine.
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

// Kill ends a machine immediately; see engine.Machines.
func (d *Driver) Kill(ctx context.Context, id string, identity *process.Identity) error {
	return withFirst(identity, func(first *process.Handle) error { return kill(ctx, id, first) })
}

// withFirst calls do with the first process of a machine, if that process still exists.
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
	// A frozen process would not handle the signal until it is thawed.
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

// Thaw resumes the processes of a machine; see engine.Machines.
func (d *Driver) Thaw(id string) error { return thaw(id) }

// kill kills the first process of an instance, and with it all others. Processes that the instance
// has frozen end only once they are thawed, so kill repeats the signal and the thawing until all
// processes have ended.
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

// Remove ends a machine immediately and deletes everything that belongs to it; see engine.Machines.
// It does not stop the machine cleanly first, because nothing that the machine could still write
// would be kept.
func (d *Driver) Remove(ctx context.Context, id string, identity *process.Identity) error {
	if err := d.removeVolatile(ctx, id, identity); err != nil {
		return err
	}
	d.unmounts.announce(id)
	return removeFolder(d.folder(id))
}

// removeVolatile ends a machine immediately and removes everything that does not outlive its
// processes. It keeps what the machine wrote to its root if the writable layer is on disk. A layer
// in memory is lost; only the private folders are kept then.
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

// cardName returns the name of the host's end of an instance's network card. It has at most 15
// characters.
func cardName(id string) string { return network.CardPrefix + id }
