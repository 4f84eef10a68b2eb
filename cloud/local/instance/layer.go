// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryLayerSize limits the writable layer when it cannot be on disk.
const memoryLayerSize = "2g"

// RootCheckPrefix is the prefix of the folder that CheckRoot creates. A killed check leaves its
// folder behind.
const RootCheckPrefix = ".root-check-"

// kernelFileSystems lists the file systems that the kernel supports.
const kernelFileSystems = "/proc/filesystems"

// Layer is where the writable layer of an instance's root is kept.
type Layer string

const (
	// LayerInStateDir is a layer in the state folder.
	LayerInStateDir Layer = "state folder"
	// LayerInMemory is a layer of at most 2 GiB in memory, used when the state folder's file system
	// cannot hold one.
	LayerInMemory Layer = "memory"
)

// RootError reports that this host cannot give an instance its copy-on-write root.
type RootError struct {
	// StateDir is the state folder that was tried.
	StateDir string
	// Problem describes what is wrong and how to fix it.
	Problem string
	// Err is the kernel's error; nil if the kernel was not asked.
	Err error
}

func (e *RootError) Error() string {
	message := "instances need a copy-on-write root, an overlayfs over the operating system of nodes: " + e.Problem
	if e.Err != nil {
		message += " (" + e.Err.Error() + ")"
	}
	return message
}

// Unwrap returns the kernel's error.
func (e *RootError) Unwrap() error { return e.Err }

// CheckRoot mounts a root as for an instance, in a temporary mount namespace, and returns where its
// writable layer is kept. It returns a RootError if this host cannot mount such a root. Both
// folders must exist.
func CheckRoot(stateDir, systemDir string) (Layer, error) {
	if err := requireOverlay(); err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(stateDir, RootCheckPrefix)
	if err != nil {
		return "", fmt.Errorf("check the state folder: %w", err)
	}
	layer, err := probe(folder, systemDir)
	if err != nil {
		err = &RootError{
			StateDir: stateDir, Err: err, Problem: explain(err, stateDir, systemDir),
		}
	}
	return layer, errors.Join(err, os.RemoveAll(folder))
}

// requireOverlay returns an error if the kernel has no overlayfs. It makes the kernel load the
// module if necessary.
func requireOverlay() error {
	const module = "overlay"
	for _, try := range []func(){func() {}, func() { _ = unix.Mount(module, "/proc/self/fd", module, 0, "") }} {
		// The kernel loads the module when somebody mounts it; an invalid mount is enough.
		try()
		text, err := os.ReadFile(kernelFileSystems)
		if err != nil {
			return fmt.Errorf("read the kernel's file systems: %w", err)
		}
		if strings.Contains(string(text), "\t"+module+"\n") {
			return nil
		}
	}
	return &RootError{Problem: "the kernel has none (" + kernelFileSystems + " does not list overlay); load it with `modprobe overlay`, " +
		"or run a kernel that is built with CONFIG_OVERLAY_FS"}
}

// probe runs probeHere in its own mount namespace.
func probe(folder, systemDir string) (layer Layer, err error) {
	err = inOwnMounts(func() (err error) {
		layer, err = probeHere(folder, systemDir)
		return err
	})
	return layer, err
}

func probeHere(folder, systemDir string) (Layer, error) {
	target := filepath.Join(folder, rootFolder)
	for _, name := range []string{upperFolder, workFolder, rootFolder, identityFolder} {
		if err := os.Mkdir(filepath.Join(folder, name), publicMode); err != nil {
			return "", fmt.Errorf("make a folder to try it: %w", err)
		}
	}
	layer, err := mountLayers(folder, filepath.Join(folder, identityFolder)+":"+systemDir, target, hostUsers)
	if err != nil {
		return "", err
	}
	defer func() {
		_ = unix.Unmount(target, unix.MNT_DETACH)
		if layer == LayerInMemory {
			_ = unix.Unmount(filepath.Join(folder, workFolder), unix.MNT_DETACH)
		}
	}()
	// If a file system lacks something that an overlay needs, the kernel mounts the overlay
	// read-only.
	if err := os.Mkdir(filepath.Join(target, filepath.Base(folder)), folderMode); err != nil {
		return "", fmt.Errorf("write to it: %w", err)
	}
	return layer, nil
}

// explain describes what may be wrong with a host that refused the mount, and what is allowed.
func explain(refusal error, stateDir, systemDir string) string {
	if errors.Is(refusal, unix.EPERM) {
		return "this host does not permit mounting one; run foocloud as root with CAP_SYS_ADMIN, in a container with --privileged"
	}
	const allowed = "the state folder must lie on ext4, xfs, btrfs or tmpfs, and the system not on an overlay over another overlay"
	return fmt.Sprintf("it cannot be mounted with the system %s on %s and the state folder %s on %s; %s: give another --state-dir or --system-dir, "+
		"or mount a tmpfs there", systemDir, fileSystem(systemDir), stateDir, fileSystem(stateDir), allowed)
}

// fileSystem returns the name of the file system that holds a path, or its magic number if it has
// no common name.
func fileSystem(path string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return "an unknown file system"
	}
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
		unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.NFS_SUPER_MAGIC: "nfs", unix.FUSE_SUPER_MAGIC: "fuse",
		unix.SQUASHFS_MAGIC: "squashfs", unix.F2FS_SUPER_MAGIC: "f2fs",
	}
	if name, ok := names[stat.Type]; ok {
		return name
	}
	return fmt.Sprintf("file system %#x", stat.Type)
}

// mountLayers mounts the folders in lower with a writable layer on top. The writable layer is on
// the state folder's disk, or in memory if the kernel does not accept that (for example on a host
// whose own root is an overlay). The root belongs to owner.
func mountLayers(folder, lower, target string, owner uint32) (Layer, error) {
	err := mountOverlay(folder, lower, target)
	if err == nil {
		return LayerInStateDir, nil
	}
	if errors.Is(err, unix.ENOSPC) {
		return "", fmt.Errorf("mount a copy-on-write root: %w", err)
	}
	memory := filepath.Join(folder, workFolder)
	if mountErr := unix.Mount("tmpfs", memory, "tmpfs", 0, "size="+memoryLayerSize+",mode=755"); mountErr != nil {
		return "", fmt.Errorf("mount a copy-on-write root: %w", errors.Join(err, mountErr))
	}
	for _, name := range []string{upperFolder, workFolder} {
		if err := os.Mkdir(filepath.Join(memory, name), publicMode); err != nil {
			return "", fmt.Errorf("make a layer in memory: %w", err)
		}
	}
	if err := os.Chown(filepath.Join(memory, upperFolder), int(owner), int(owner)); err != nil {
		return "", fmt.Errorf("make a layer in memory: %w", err)
	}
	if memoryErr := mountOverlay(memory, lower, target); memoryErr != nil {
		return "", fmt.Errorf("mount a copy-on-write root: %w", memoryErr)
	}
	return LayerInMemory, nil
}

func mountOverlay(folder, lower, target string) error {
	options := "lowerdir=" + lower + ",upperdir=" + filepath.Join(folder, upperFolder) + ",workdir=" + filepath.Join(folder, workFolder)
	if err := unix.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("overlay in %s: %w", folder, err)
	}
	return nil
}
