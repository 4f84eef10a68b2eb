// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/durable"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

const (
	// usersFile is a file in an instance's folder that holds the host's user ID for the instance's
	// root. What the instance wrote belongs to that ID and those above it, so a restarted instance
	// keeps it.
	usersFile = "users"
	// hostUsers is the root of instances that share the host's users.
	hostUsers = 0
	// usersPerInstance is how many users and groups an instance with a user namespace has.
	usersPerInstance = 1 << 16
	// firstUsers is the first user ID on the host that instances use, and usersSlots how many
	// instances have users of their own. The IDs are above those that distributions assign to
	// people and to their containers.
	firstUsers = 1 << 30
	usersSlots = 1 << 14
	// openFiles is how many files a process of an instance with a user namespace may have open.
	openFiles = 1 << 20
)

// Mount points of an instance with a user namespace, as its runtime sees them. The instance's root
// user must be able to reach them, but may not enter the state folder.
const (
	mappedLayers = "layers"
	mappedRoot   = "root"
)

// visibleKernel are kernel file systems that nothing is mounted over. Inside a user namespace, the
// kernel lets a container in the instance mount its own only if such a mount already exists.
var visibleKernel = []specs.Mount{
	{Destination: "/dev/.foo/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
	{Destination: "/dev/.foo/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev"}},
}

// usersOf returns the host's ID of an instance's first user.
func (d *Driver) usersOf(id string) (uint32, error) {
	text, err := os.ReadFile(filepath.Join(d.folder(id), usersFile))
	if errors.Is(err, os.ErrNotExist) {
		return hostUsers, nil // started by an earlier version
	}
	if err != nil {
		return 0, fmt.Errorf("read the users of the instance: %w", err)
	}
	first, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("read the users of the instance: %w", err)
	}
	return uint32(first), nil
}

// chooseUsers records which users a new instance gets.
func (d *Driver) chooseUsers(spec engine.MachineSpec) error {
	folder := d.folder(spec.ID)
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("make the instance's folder: %w", err)
	}
	for _, path := range []string{filepath.Join(folder, usersFile), filepath.Join(d.disk(spec.ID), upperFolder)} {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
	}
	first := uint32(hostUsers)
	if d.options.UserNamespaces {
		first = usersAt(d.options.Network, spec.Address)
	}
	if err := durable.WriteFile(filepath.Join(folder, usersFile), strconv.AppendUint(nil, uint64(first), 10), fileMode); err != nil {
		return fmt.Errorf("note the users of the instance: %w", err)
	}
	return nil
}

// usersAt returns the host's ID of the first user of the instance with the given address. In a
// network of up to usersSlots addresses, no two running instances share users.
func usersAt(network netip.Prefix, address string) uint32 {
	number := func(address netip.Addr) uint32 {
		bytes := address.As4()
		return uint32(bytes[0])<<24 | uint32(bytes[1])<<16 | uint32(bytes[2])<<8 | uint32(bytes[3])
	}
	own, err := netip.ParseAddr(address)
	if err != nil || !own.Is4() || !network.Addr().Is4() {
		return firstUsers
	}
	return firstUsers + (number(own)-number(network.Masked().Addr()))%usersSlots*usersPerInstance
}

// giveTo makes an instance's root the owner of a file or folder.
func giveTo(first uint32, path string) error {
	if first == hostUsers {
		return nil
	}
	return os.Lchown(path, int(first), int(first))
}

// separate gives a container a user namespace, in which root has no rights on the host. Of what the
// kernel's file systems offer, the instance can then change only what is its own.
func (d *Driver) separate(container *specs.Spec, id string, first uint32) error {
	place, err := d.mappedPlace(id)
	if err != nil {
		return err
	}
	container.Root.Path = filepath.Join(place, mappedRoot)
	mapping := []specs.LinuxIDMapping{{ContainerID: 0, HostID: first, Size: usersPerInstance}}
	linux := container.Linux
	linux.Namespaces = append(linux.Namespaces, specs.LinuxNamespace{Type: specs.UserNamespace})
	linux.UIDMappings, linux.GIDMappings = mapping, mapping
	// Devices cannot be created in a user namespace.
	linux.Devices = nil
	// Mount these right after /dev, which contains them, and therefore before /sys: a file system
	// that is first mounted read-only stays read-only for all later mounts.
	devices := slices.IndexFunc(container.Mounts, func(mount specs.Mount) bool { return mount.Destination == "/dev" })
	container.Mounts = append(slices.Insert(container.Mounts, devices+1, visibleKernel...), bind("/dev/null", "/dev/kmsg"))
	const resources = "CAP_SYS_RESOURCE"
	process := container.Process
	if given := process.Capabilities.Bounding; slices.Contains(given, resources) {
		// In a user namespace, this capability permits nothing that concerns the host, but the node
		// agent would rely on it. So drop it, and raise the limit here that the instance could
		// otherwise raise itself.
		given = slices.DeleteFunc(slices.Clone(given), func(name string) bool { return name == resources })
		process.Capabilities = &specs.LinuxCapabilities{Bounding: given, Effective: given, Permitted: given}
		process.Rlimits = []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Soft: openFiles, Hard: openFiles}}
	}
	return nil
}

// mappedPlace returns a folder of the host that every user may enter. In the runtime's mount
// namespace, the layers of an instance are mounted over it, so it must not contain anything that
// the container is created from. An instance may keep the layers of another installation.
func (d *Driver) mappedPlace(id string) (string, error) {
	used := append(strings.Split(d.recordedLayers(id), ":"), d.options.StateDir, d.options.SystemDir, d.options.AgentDir, d.options.Runtime)
	for _, place := range []string{"/mnt", "/srv", "/media", "/opt"} {
		info, err := os.Lstat(place)
		if err != nil || !info.IsDir() {
			continue
		}
		if !slices.ContainsFunc(used, func(path string) bool { return path == place || strings.HasPrefix(path, place+"/") }) {
			return place, nil
		}
	}
	return "", errors.New("an instance with a user namespace needs an unused folder /mnt, /srv, /media or /opt")
}

// mountMapped mounts the root of an instance with a user namespace. In the read-only layers, files
// of the host's root appear to belong to the instance's root.
func (d *Driver) mountMapped(id, layers string, first uint32) error {
	place, err := d.mappedPlace(id)
	if err != nil {
		return err
	}
	return mountMapped(place, d.disk(id), layers, first)
}

func mountMapped(place, folder, layers string, first uint32) error {
	if err := unix.Mount("tmpfs", place, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1m"); err != nil {
		return fmt.Errorf("mount the layers of the instance: %w", err)
	}
	users, err := openUserNamespace(first)
	if err != nil {
		return err
	}
	defer func() { _ = users.Close() }()
	var mapped []string
	for index, layer := range strings.Split(layers, ":") {
		path := filepath.Join(place, mappedLayers, strconv.Itoa(index))
		if err := mapLayer(layer, path, users); err != nil {
			return fmt.Errorf("give layer %s to the users of the instance: %w", layer, err)
		}
		mapped = append(mapped, path)
	}
	target := filepath.Join(place, mappedRoot)
	if err := os.Mkdir(target, publicMode); err != nil {
		return fmt.Errorf("mount the layers of the instance: %w", err)
	}
	_, err = mountLayers(folder, strings.Join(mapped, ":"), target, first)
	return err
}

// mapLayer mounts a folder at a path, with its users mapped to those of a user namespace.
func mapLayer(layer, path string, users *os.File) error {
	if err := os.MkdirAll(path, publicMode); err != nil {
		return err
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, layer, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	defer func() { _ = unix.Close(tree) }()
	attributes := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP | unix.MOUNT_ATTR_RDONLY, Userns_fd: uint64(users.Fd())}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, attributes); err != nil {
		return fmt.Errorf("map its users: %w", err)
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount it: %w", err)
	}
	return nil
}

// openUserNamespace returns a user namespace with the users of an instance. The instance itself
// gets another one with the same mapping.
func openUserNamespace(first uint32) (*os.File, error) {
	mapping := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(first), Size: usersPerInstance}}
	// cat ends when its input is closed.
	holder := exec.CommandContext(context.Background(), "cat")
	holder.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, UidMappings: mapping, GidMappings: mapping, Pdeathsig: syscall.SIGKILL,
	}
	input, err := holder.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a user namespace: %w", err)
	}
	if err := holder.Start(); err != nil {
		return nil, fmt.Errorf("make a user namespace: %w", err)
	}
	users, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", holder.Process.Pid))
	if err := errors.Join(input.Close(), holder.Wait()); err != nil {
		return nil, fmt.Errorf("make a user namespace: %w", err)
	}
	return users, err
}

// delegate lets the root of an instance with a user namespace create cgroups below its own. It
// grants nothing else.
func delegate(id string, first uint32) error {
	if first == hostUsers {
		return nil
	}
	group, err := groupOf(containerGroup(id))
	if err != nil {
		return fmt.Errorf("delegate the instance's cgroup: %w", err)
	}
	for _, path := range group.GetPaths() {
		for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "tasks"} {
			if err := os.Lchown(filepath.Join(path, name), int(first), int(first)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("delegate the instance's cgroup: %w", err)
			}
		}
	}
	return nil
}

// CheckUserNamespaces returns an error if instances cannot have user namespaces on this host.
func CheckUserNamespaces(stateDir, systemDir string) error {
	folder, err := os.MkdirTemp(stateDir, RootCheckPrefix)
	if err != nil {
		return fmt.Errorf("check the state folder: %w", err)
	}
	place := filepath.Join(folder, "place")
	err = inOwnMounts(func() error {
		for _, name := range []string{upperFolder, workFolder, identityFolder, "place"} {
			if err := os.Mkdir(filepath.Join(folder, name), publicMode); err != nil {
				return fmt.Errorf("make a folder to try it: %w", err)
			}
		}
		return mountMapped(place, folder, filepath.Join(folder, identityFolder)+":"+systemDir, firstUsers)
	})
	return errors.Join(err, os.RemoveAll(folder))
}
