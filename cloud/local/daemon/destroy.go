// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/inotify"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/instance"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/loadbalancer"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// Destroy removes everything that a state folder owns on this host, and then the folder itself. The
// daemon must not be running. If there is no such folder, it returns false, which is no error. The
// folder of a daemon that ended before it had a state is removed too.
func Destroy(ctx context.Context, path, runtime string) (existed bool, err error) {
	if err := requireRoot(); err != nil {
		return false, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return true, destroy(ctx, path, runtime)
}

func destroy(ctx context.Context, path, runtime string) error {
	folder, err := stateDir(path)
	if err != nil {
		return err
	}
	_, missing := os.Stat(filepath.Join(folder, stateFile))
	if missing != nil && !neverStarted(folder) {
		return refuse(fmt.Errorf("%s is not a state folder of foocloud: %w; name one with --state-dir", folder, missing))
	}
	locked, err := lock(folder)
	if err != nil {
		return err
	}
	defer func() { _ = locked.Close() }()
	if missing == nil {
		if err := destroyAll(ctx, folder, runtime); err != nil {
			return err
		}
	}
	return errors.Join(removeState(folder), instance.RemoveLimits())
}

// neverStarted reports whether a folder holds only what a daemon leaves behind if it ends before it
// has a state, for example because it could not get its copy-on-write root.
func neverStarted(folder string) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if entry.Name() != lockFile && !strings.HasPrefix(entry.Name(), instance.RootCheckPrefix) {
			return false
		}
	}
	return true
}

// removeState removes the state file and the lock last, so that a removal that was interrupted or
// failed can be repeated. It leaves the empty folder itself if a file system is mounted on it: whoever
// mounted that unmounts it.
func removeState(folder string) error {
	err := removeAllBut(folder, stateFile, lockFile)
	for _, name := range []string{stateFile, lockFile, ""} {
		if err == nil {
			err = os.RemoveAll(filepath.Join(folder, name))
		}
	}
	if errors.Is(err, unix.EBUSY) {
		entries, readErr := os.ReadDir(folder)
		if readErr == nil && len(entries) == 0 {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("remove the state folder: %w", err)
	}
	return nil
}

// removeAllBut removes what is in a folder, except for these entries.
func removeAllBut(folder string, names ...string) error {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if !slices.Contains(names, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

func destroyAll(ctx context.Context, folder, runtime string) error {
	state, err := store.Open(filepath.Join(folder, stateFile))
	if err != nil {
		return err
	}
	defer func() { _ = state.Close() }()
	var record *store.Network
	err = state.View(func(tx *store.Tx) error {
		record, err = tx.Network()
		return err
	})
	// Without a network, nothing was ever created.
	if err != nil || record == nil {
		return err
	}
	options, err := networkOptions(folder, record)
	if err != nil {
		return err
	}
	if err := destroyMachines(ctx, folder, runtime, state, options); err != nil {
		return err
	}
	return errors.Join(network.Remove(options), inotify.HostLimit().Release(filepath.Join(folder, stateFile)))
}

func destroyMachines(ctx context.Context, folder, runtime string, state *store.Store, options network.Options) error {
	program, err := runtimeProgram(runtime)
	if err != nil {
		return err
	}
	// The network may be gone, for example after a host restart. Recreate it, so that everything
	// can be removed the usual way.
	bridge, err := network.Restore(options)
	if err != nil {
		return err
	}
	defer func() { _ = bridge.Close() }()
	ids, err := instanceIDs(state)
	if err != nil {
		return err
	}
	machines, err := instance.NewDriver(ctx, instance.Options{StateDir: folder, Runtime: program, Network: options.Network, Bridge: bridge}, ids)
	if err != nil {
		return err
	}
	defer func() { _ = machines.Close() }()
	return engine.New(engine.Options{
		Store: state, Machines: machines, Balancers: loadbalancer.NewDriver(folder, bridge), Network: options.Network,
		Images: func() ([]cloud.Image, error) { return nil, nil },
	}).Remove(ctx)
}
