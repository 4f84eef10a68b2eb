// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	_ "github.com/opencontainers/cgroups/devices" // lets cgroups limit devices
	devices "github.com/opencontainers/cgroups/devices/config"
	"github.com/opencontainers/cgroups/manager"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

const (
	// processesPerCPU is how many processes and threads an instance may have per CPU. The limit
	// keeps a fork bomb in one instance from exhausting the host's process IDs.
	processesPerCPU = 2048
	// cpuPeriod is the period of the CPU quota, in microseconds.
	cpuPeriod = 100000
	// allInstances is the cgroup of the instances of all clouds on the host.
	allInstances = "/foo"
	// allShares is the CPU weight of all instances together in cgroups version 1, and allWeight in
	// version 2: a tenth of the weight of each of the host's other cgroups and sessions. Even when
	// instances use all CPUs, the host's own programs hardly wait for one. Otherwise, the programs that
	// manage many clusters would get too little to ever finish them.
	allShares = 102
	allWeight = 10
	// anyNumber matches all major or minor device numbers.
	anyNumber = devices.Wildcard
)

// limitsGroup is the host's cgroup that limits an instance, and containerGroup the one below it
// that holds its processes. Root in an instance can write to containerGroup, which it sees as the
// root cgroup, and could lift limits set there.
func limitsGroup(id string) string    { return allInstances + "/" + id }
func containerGroup(id string) string { return limitsGroup(id) + "/instance" }

// hostCgroups is where the host's cgroups are mounted in version 2.
const hostCgroups = "/sys/fs/cgroup"

// holdTries is how often to request the controllers. systemd rarely takes them away in between, and
// the window is short.
const holdTries = 100

// ending is how often to try to remove a cgroup whose last processes may be ending: for about a second.
var ending = wait.Backoff{Duration: time.Millisecond, Factor: 2, Steps: 11}

// nodeControllers are the controllers that a node must have; kubeadm refuses to create a node
// without them.
var nodeControllers = []string{"cpu", "cpuset", "memory", "pids"}

// limit creates the cgroup that limits an instance to the size of its type.
func limit(spec engine.MachineSpec) error { return limitIn(limitsGroup(spec.ID), spec) }

func limitIn(path string, spec engine.MachineSpec) error {
	if cgroups.IsCgroup2UnifiedMode() {
		if err := hold(hostCgroups, filepath.Join(hostCgroups, filepath.Dir(path))); err != nil {
			return err
		}
	}
	if err := apply(filepath.Dir(path), &cgroups.Resources{CpuShares: allShares, CpuWeight: allWeight, SkipDevices: true}); err != nil {
		return fmt.Errorf("weigh all instances: %w", err)
	}
	err := apply(path, &cgroups.Resources{
		Memory: spec.MemoryBytes, MemorySwap: swapLimit(spec.MemoryBytes), CpuQuota: int64(spec.CPUs) * cpuPeriod, CpuPeriod: cpuPeriod,
		PidsLimit: ptr.To(int64(spec.CPUs) * processesPerCPU), Devices: allowedDevices(),
	})
	if err != nil {
		return fmt.Errorf("limit the instance: %w", err)
	}
	return nil
}

// apply creates a cgroup with these resources.
func apply(path string, resources *cgroups.Resources) error {
	group, err := manager.New(&cgroups.Cgroup{Path: path, Resources: resources})
	if err == nil {
		err = group.Apply(-1)
	}
	if err == nil {
		err = group.Set(resources)
	}
	return err
}

// hold creates a cgroup below the root cgroup and makes it pass on the controllers that nodes need.
// systemd owns the root cgroup. Whenever it reloads or starts a unit, it disables controllers that
// none of its units needs, such as cpuset, but not controllers that a child cgroup passes on. So
// hold enables them in the child immediately, and retries if systemd disabled them in between.
func hold(top, group string) error {
	const available, handed = "cgroup.controllers", "cgroup.subtree_control"
	missing, err := lacks(filepath.Join(top, available))
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("this host has no cgroup controllers %s, which nodes need", strings.Join(missing, ", "))
	}
	if err := os.Mkdir(group, publicMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the cgroup of all instances: %w", err)
	}
	for range holdTries {
		for _, controller := range nodeControllers {
			if err := os.WriteFile(filepath.Join(top, handed), []byte("+"+controller), 0); err != nil {
				return fmt.Errorf("turn on the cgroup controller %s: %w", controller, err)
			}
			// This fails if systemd disabled the controller in between.
			_ = os.WriteFile(filepath.Join(group, handed), []byte("+"+controller), 0)
		}
		missing, err = lacks(filepath.Join(group, handed))
		if err != nil || len(missing) == 0 {
			return err
		}
	}
	return fmt.Errorf("systemd does not let the cgroup %s have the controllers %s, which nodes need", group, strings.Join(missing, ", "))
}

// lacks returns the nodeControllers that are missing from the list in a file.
func lacks(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cgroup controllers: %w", err)
	}
	there := strings.Fields(string(text))
	return slices.DeleteFunc(slices.Clone(nodeControllers), func(name string) bool { return slices.Contains(there, name) }), nil
}

// swapLimit returns the limit of memory and swap together that keeps an instance from swapping, or
// 0 (no limit) if the kernel does not count swap.
func swapLimit(memory int64) int64 {
	_, err := os.Stat("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes")
	if cgroups.IsCgroup2UnifiedMode() || err == nil {
		return memory
	}
	return 0
}

// CheckLimits returns an error if this host cannot limit an instance.
func CheckLimits() error {
	path := fmt.Sprintf("/foo-check-%d", os.Getpid())
	return errors.Join(limitIn(path+"/instance", engine.MachineSpec{CPUs: 1, MemoryBytes: 1 << 30}), remove(path))
}

// RemoveLimits removes the cgroup of all instances of this host, unless it contains instances. It
// must not run while an instance is being created, because that instance could find the cgroup
// gone.
func RemoveLimits() error {
	group, err := groupOf(allInstances)
	if err != nil {
		return err
	}
	for _, path := range group.GetPaths() {
		// A cgroup with children is in use.
		if err := unix.Rmdir(path); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENOTEMPTY) {
			return fmt.Errorf("remove the cgroup %s: %w", path, err)
		}
	}
	return nil
}

// unlimit removes the cgroup of an instance that has no processes left. A missing cgroup is not an
// error.
func unlimit(id string) error { return remove(limitsGroup(id)) }

func remove(path string) error {
	group, err := groupOf(path)
	if err != nil {
		return fmt.Errorf("find the cgroup %s: %w", path, err)
	}
	for _, top := range group.GetPaths() {
		if err := removeGroups(top); err != nil {
			return fmt.Errorf("remove the cgroup %s: %w", path, err)
		}
	}
	return nil
}

// removeGroups removes a cgroup and all cgroups below it. If they still have processes, it waits a
// moment for these to end.
func removeGroups(top string) error {
	var err error
	_ = wait.ExponentialBackoff(ending, func() (bool, error) {
		err = removeTree(top, func(folder int, entry fs.DirEntry) error {
			// The files of a cgroup disappear with it.
			if !entry.IsDir() {
				return nil
			}
			return removeEntry(folder, entry)
		})
		return !errors.Is(err, unix.EBUSY), nil
	})
	return err
}

func groupOf(path string) (cgroups.Manager, error) {
	return manager.New(&cgroups.Cgroup{Path: path, Resources: &cgroups.Resources{SkipDevices: true}})
}

// Freeze freezes all processes of a machine; see engine.Machines. They cannot undo it, because the frozen
// cgroup is the parent of theirs.
func (d *Driver) Freeze(id string) error {
	group, err := groupOf(limitsGroup(id))
	if err == nil {
		err = group.Freeze(cgroups.Frozen)
	}
	if err != nil {
		return fmt.Errorf("freeze the instance: %w", err)
	}
	return nil
}

// Frozen reports whether Freeze has frozen a machine; see engine.Machines.
func (d *Driver) Frozen(id string) (bool, error) {
	var state cgroups.FreezerState
	group, err := groupOf(limitsGroup(id))
	if err == nil {
		state, err = group.GetFreezerState()
	}
	if err != nil {
		return false, fmt.Errorf("find out whether the instance is frozen: %w", err)
	}
	return state == cgroups.Frozen, nil
}

// thaw resumes all processes of an instance, including those that the instance froze itself. Frozen
// processes would not end.
func thaw(id string) error {
	group, err := groupOf(limitsGroup(id))
	if err != nil {
		return fmt.Errorf("thaw the instance: %w", err)
	}
	file, text := "cgroup.freeze", "0"
	top := group.Path("")
	if !cgroups.IsCgroup2UnifiedMode() {
		file, text, top = "freezer.state", "THAWED", group.Path("freezer")
	}
	if top == "" {
		return nil // the host has no freezer
	}
	if err := thawGroups(top, file, text); err != nil {
		return fmt.Errorf("thaw the instance: %w", err)
	}
	return nil
}

// thawGroups writes the text that thaws to the freezer's file of a cgroup and of all cgroups below it.
func thawGroups(top, file, text string) error {
	return walk(top, func(folder int, entry fs.DirEntry) error {
		if entry.Name() != file {
			return nil
		}
		descriptor, err := unix.Openat(folder, file, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == nil {
			_, err = unix.Write(descriptor, []byte(text))
			err = errors.Join(err, unix.Close(descriptor))
		}
		// A cgroup that was removed meanwhile needs no thawing.
		if errors.Is(err, unix.ENODEV) {
			return nil
		}
		return err
	})
}

// allowedDevices returns the devices that every container has, and pseudo-terminals. Other device
// nodes can be created but not opened.
func allowedDevices() []*devices.Rule {
	allow := func(kind devices.Type, major, minor int64, permissions devices.Permissions) *devices.Rule {
		return &devices.Rule{Type: kind, Major: major, Minor: minor, Permissions: permissions, Allow: true}
	}
	return []*devices.Rule{
		{Type: devices.WildcardDevice, Major: anyNumber, Minor: anyNumber, Permissions: "rwm"},
		allow(devices.CharDevice, anyNumber, anyNumber, "m"), allow(devices.BlockDevice, anyNumber, anyNumber, "m"),
		allow(devices.CharDevice, 1, 3, "rwm"),           // null
		allow(devices.CharDevice, 1, 5, "rwm"),           // zero
		allow(devices.CharDevice, 1, 7, "rwm"),           // full
		allow(devices.CharDevice, 1, 8, "rwm"),           // random
		allow(devices.CharDevice, 1, 9, "rwm"),           // urandom
		allow(devices.CharDevice, 5, 0, "rwm"),           // tty
		allow(devices.CharDevice, 5, 1, "rwm"),           // console
		allow(devices.CharDevice, 5, 2, "rwm"),           // ptmx
		allow(devices.CharDevice, 136, anyNumber, "rwm"), // pseudo-terminals
		allow(devices.CharDevice, 10, 200, "rwm"),        // tun, which runtimes allow for every container
	}
}
