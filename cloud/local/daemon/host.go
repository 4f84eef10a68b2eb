// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/instance"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// What a small cluster needs, in MiB. packaging/install.sh checks the same.
const (
	neededMemory = 1024
	neededSpace  = 1024
)

// The oldest kernel whose nftables can separate tenants.
const (
	kernelMajor = 5
	kernelMinor = 17
)

// CheckHost returns a RefusedError that lists what this machine lacks to run instances with these
// options, and how to fix it; see instance.CheckRoot. It leaves nothing behind. The node agent's
// program checks its own requirements.
func CheckHost(ctx context.Context, options Options) error { return refuse(options.checkHost(ctx)) }

func (o Options) checkHost(ctx context.Context) error {
	if err := requireRoot(); err != nil {
		return err
	}
	state, err := statePath(o.StateDir)
	if err != nil {
		return err
	}
	folder := state
	for !exists(folder) { // the daemon would create it
		folder = filepath.Dir(folder)
	}
	prefix, err := parseNetwork(o.Network)
	if err != nil {
		return err
	}
	_, missing := runtimeProgram(o.Runtime)
	used := o.checkNetwork(state, prefix)
	system, err := systemDir(o.SystemDir)
	if err == nil {
		_, err = instance.CheckRoot(folder, system)
	}
	room := errors.Join(checkMemory(), checkSpace(folder))
	if o.Restart {
		room = nil
		if o.full(err) {
			err = nil
		}
	}
	_, unreadable := config.Load(o.Config)
	return errors.Join(unreadable, missing, checkKernel(), room, used, err, instance.CheckLimits(), checkAgent(ctx, o.Agent))
}

// checkNetwork refuses a network or an interface name that others use. A cloud that has stopped must
// keep its own. One that runs has checked the interface itself, and its record is locked.
func (o Options) checkNetwork(state string, prefix netip.Prefix) error {
	options := network.Options{Name: o.Bridge, Network: prefix, Space: filepath.Join(state, spaceFile)}
	record, err := store.ReadNetwork(filepath.Join(state, stateFile))
	if errors.Is(err, store.ErrInUse) {
		return network.CheckFree(options)
	}
	if err != nil {
		return err
	}
	options.Alias = rand.Text() // a new cloud has no interface yet
	if record != nil {
		if err := o.checkRecord(record, prefix); err != nil {
			return err
		}
		options.Alias = record.Alias
	}
	return network.Check(options)
}

// checkRecord refuses to change the network of a cloud that exists.
func (o Options) checkRecord(record *store.Network, prefix netip.Prefix) error {
	if record.Bridge == o.Bridge && record.CIDR == prefix.String() {
		return nil
	}
	return fmt.Errorf("state folder %s was created with --bridge %s --network %s: use these, or another state folder", o.StateDir, record.Bridge, record.CIDR)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkAgent runs the node agent's own check of the machine.
func checkAgent(ctx context.Context, agent string) error {
	program, err := existing("--agent", agent)
	if err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, program, "check").CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("this host lacks something that the node agent needs: %s (%w)", strings.TrimSpace(string(output)), err)
	}
	return nil
}

// checkKernel refuses kernels that are too old.
func checkKernel() error {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return fmt.Errorf("ask for the kernel's version: %w", err)
	}
	return kernelFits(unix.ByteSliceToString(name.Release[:]))
}

func kernelFits(release string) error {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("the kernel is Linux %s, whose version is unknown: boot Linux %d.%d or newer", release, kernelMajor, kernelMinor)
	}
	if major < kernelMajor || major == kernelMajor && minor < kernelMinor {
		return fmt.Errorf("the kernel is Linux %s: boot Linux %d.%d or newer", release, kernelMajor, kernelMinor)
	}
	return nil
}

// checkMemory refuses machines without memory for a cluster.
func checkMemory() error {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("ask for free memory: %w", err)
	}
	return memoryFits(string(content))
}

func memoryFits(meminfo string) error {
	for line := range strings.Lines(meminfo) {
		var kib int
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); err == nil && kib>>10 < neededMemory {
			return fmt.Errorf("the host has %d MiB of free memory, and a cluster needs %d MiB: end other programs, or use a larger host", kib>>10, neededMemory)
		}
	}
	return nil
}

// checkSpace refuses a state folder on a full disk.
func checkSpace(folder string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return fmt.Errorf("ask for free space in %s: %w", folder, err)
	}
	if free := stat.Bavail * uint64(stat.Bsize) >> 20; free < neededSpace {
		return fmt.Errorf("%s has %d MiB of free space, and a cluster needs %d MiB: free some, or choose another folder with --state-dir", folder, free, neededSpace)
	}
	return nil
}
