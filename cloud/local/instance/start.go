// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const (
	// startTimeout is how long the container of an instance may take to start.
	startTimeout = 30 * time.Second
	// startsPerCPU is how many instances may start concurrently per CPU of the host.
	startsPerCPU = 2
)

// card is the name of the network card in an instance.
const card = "eth0"

// Start creates a machine; see engine.Machines. The machine's first process does nothing until its
// identity is stored. So if the daemon is killed meanwhile, no running machine is unknown to the
// next daemon.
func (d *Driver) Start(ctx context.Context, spec engine.MachineSpec, commit engine.Commit) (engine.Machine, error) {
	select {
	case d.starts <- struct{}{}:
		defer func() { <-d.starts }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := d.prepare(ctx, spec); err != nil {
		return nil, err
	}
	layers, err := d.layers(spec)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	handle, err := d.startContainer(limited, spec, layers, commit)
	if err == nil {
		var started engine.Machine
		if started, err = d.attach(spec.ID, handle); err == nil {
			return started, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("start the container: %w", err), d.giveUp(ctx, spec.ID, handle))
}

// prepare removes what an earlier start left behind and writes what the container is created from.
func (d *Driver) prepare(ctx context.Context, spec engine.MachineSpec) error {
	remove := d.Remove
	if spec.KeepDisk {
		remove = d.removeVolatile
	}
	if err := remove(ctx, spec.ID, nil); err != nil {
		return fmt.Errorf("remove what an earlier start left: %w", err)
	}
	openDisk := func(spec engine.MachineSpec) error { return d.openDisk(ctx, spec) }
	for _, step := range []func(engine.MachineSpec) error{
		d.chooseUsers, openDisk, d.makeFolders, d.writeIdentity, d.writeBundle, limit,
	} {
		if err := step(spec); err != nil {
			return err
		}
	}
	return nil
}

// giveUp removes a container that failed to start. It waits for the first process, if any, to end
// before it closes the handle.
func (d *Driver) giveUp(ctx context.Context, id string, handle *process.Handle) error {
	err := d.containers.remove(context.WithoutCancel(ctx), id)
	if handle == nil {
		return err
	}
	defer handle.Close()
	select {
	case <-handle.Done():
	case <-ctx.Done():
	}
	return err
}

func (d *Driver) makeFolders(spec engine.MachineSpec) error {
	first, err := d.usersOf(spec.ID)
	if err != nil {
		return err
	}
	folder, disk := d.folder(spec.ID), d.disk(spec.ID)
	// These belong to the instance's root user.
	owned := []string{filepath.Join(disk, upperFolder), filepath.Join(folder, runFolder), filepath.Join(folder, reportFolder)}
	for _, name := range slices.Sorted(maps.Keys(privateDirs)) {
		owned = append(owned, filepath.Join(disk, privateFolder, name))
	}
	others := []string{filepath.Join(disk, workFolder), filepath.Join(folder, rootFolder), filepath.Join(folder, identityFolder)}
	for _, path := range slices.Concat(others, owned) {
		if err := os.MkdirAll(path, publicMode); err != nil {
			return fmt.Errorf("make the instance's folder: %w", err)
		}
	}
	// It is the root of the instance. An earlier version may have made it, with the umask of its caller.
	if err := os.Chmod(filepath.Join(disk, upperFolder), publicMode); err != nil {
		return fmt.Errorf("make the instance's folder: %w", err)
	}
	for _, path := range owned {
		if err := giveTo(first, path); err != nil {
			return fmt.Errorf("make the instance's folder: %w", err)
		}
	}
	return nil
}

// mountRoot mounts the root of an instance where the runtime looks for it.
func (d *Driver) mountRoot(id, layers string, first uint32) error {
	if first != hostUsers {
		return d.mountMapped(id, layers, first)
	}
	_, err := mountLayers(d.disk(id), layers, filepath.Join(d.folder(id), rootFolder), hostUsers)
	return err
}

// startContainer creates the container, connects it to the network, commits its identity, and
// starts it. If it fails after the first process was created, it returns the handle of that process
// together with the error.
func (d *Driver) startContainer(ctx context.Context, spec engine.MachineSpec, layers string, commit engine.Commit) (*process.Handle, error) {
	console, err := makeConsole(d.folder(spec.ID))
	if err != nil {
		return nil, err
	}
	defer func() { _ = console.Close() }()
	first, err := d.usersOf(spec.ID)
	if err != nil {
		return nil, err
	}
	// The first process opens its own standard output for writing.
	if err := giveTo(first, filepath.Join(d.folder(spec.ID), consolePipe)); err != nil {
		return nil, err
	}
	pid, err := d.containers.create(ctx, spec.ID, d.folder(spec.ID), func() error { return d.mountRoot(spec.ID, layers, first) }, console)
	if err == nil {
		err = delegate(spec.ID, first)
	}
	if err != nil {
		return nil, err
	}
	identity, err := process.Identify(pid)
	if err != nil {
		return nil, err
	}
	handle, err := process.Find(identity)
	if err != nil {
		return nil, err
	}
	if err = d.connect(spec, pid); err == nil {
		err = commit(identity)
	}
	if err == nil {
		err = d.containers.start(ctx, spec.ID)
	}
	return handle, err
}

// connect gives an instance its network card.
func (d *Driver) connect(spec engine.MachineSpec, pid int) error {
	address, err := netip.ParseAddr(spec.Address)
	if err != nil {
		return fmt.Errorf("parse the instance's address: %w", err)
	}
	return d.options.Bridge.AddCard(network.Card{
		Name: cardName(spec.ID), PeerName: card, PID: pid, Address: address, Tenant: spec.Tenant,
	})
}

func metadataOf(spec engine.MachineSpec) contract.Instance {
	return contract.Instance{
		ID: spec.ID, Name: spec.Name, Hostname: spec.Hostname, ProviderID: spec.ProviderID, Zone: spec.Zone,
		Type: spec.Type, CPUs: spec.CPUs, MemoryBytes: spec.MemoryBytes,
		KubernetesVersion: spec.KubernetesVersion, Address: spec.Address, Tags: spec.Tags,
	}
}
