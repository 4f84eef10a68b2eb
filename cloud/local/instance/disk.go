// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// A disk of limited size is a file with a file system that is mounted on a folder in the instance's
// folder. No privilege of an instance lifts that limit, and the file can be on any file system.
// File system quotas would not bind processes with CAP_SYS_RESOURCE.
const (
	diskFile   = "disk.img"
	diskFolder = "disk"
	// emptyDisks is the folder of the state folder that holds one empty disk of each size.
	emptyDisks = "disks"
	// runSize and reportSize limit the memory that an instance with such a disk can fill with the
	// files that the cloud and the instance exchange.
	runSize    = "16m"
	reportSize = "256k"
	// diskProgram creates the file system.
	diskProgram = "mkfs.ext4"
	// checkedDisk is the size in bytes of the disk that CheckDisks creates.
	checkedDisk = 64 << 20
	// loopTries is how often to retry when another process takes the free loop device first.
	loopTries = 100
	// detachTimeout is how long the kernel may take to detach a file from its loop device, and
	// detachInterval how often to check.
	detachTimeout  = 10 * time.Second
	detachInterval = 20 * time.Millisecond
)

// disk returns the folder that holds everything that an instance writes to its disk.
func (d *Driver) disk(id string) string {
	folder := d.folder(id)
	if _, err := os.Lstat(filepath.Join(folder, diskFile)); err == nil {
		return filepath.Join(folder, diskFolder)
	}
	return folder
}

// openDisk mounts the disk of an instance whose size is limited. It creates the disk the first
// time.
func (d *Driver) openDisk(ctx context.Context, spec engine.MachineSpec) error {
	folder := d.folder(spec.ID)
	image := filepath.Join(folder, diskFile)
	_, missing := os.Lstat(image)
	if missing != nil {
		// An instance that an earlier version started has its data outside a disk, and keeps it
		// there.
		if _, err := os.Lstat(filepath.Join(folder, upperFolder)); err == nil || spec.DiskBytes == 0 {
			return nil
		}
		empty, err := d.emptyDisk(ctx, spec.DiskBytes)
		if err == nil {
			err = copySparse(empty, image)
		}
		if err != nil {
			return fmt.Errorf("make the instance's disk: %w", err)
		}
	}
	if err := d.mountUsable(ctx, spec.ID); err != nil {
		return err
	}
	for name, size := range map[string]string{runFolder: runSize, reportFolder: reportSize} {
		path := filepath.Join(folder, name)
		err := os.MkdirAll(path, publicMode)
		if err == nil {
			err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size="+size)
		}
		if err != nil {
			return fmt.Errorf("mount %s of the instance: %w", path, err)
		}
	}
	return nil
}

// mountUsable mounts a disk and removes what an earlier start of the instance left on it.
func (d *Driver) mountUsable(ctx context.Context, id string) error {
	image, folder := filepath.Join(d.folder(id), diskFile), filepath.Join(d.folder(id), diskFolder)
	if err := mountDisk(ctx, image, folder); err != nil {
		return err
	}
	work := filepath.Join(folder, workFolder)
	err := emptyFolder(work)
	if errors.Is(err, unix.EROFS) {
		// The host's disk was full. The file system in the file then stays read-only until it is
		// mounted again, even if the host has room.
		d.unmounts.announce(id)
		if err = awaitUnmounted(ctx, folder); err == nil {
			err = mountDisk(ctx, image, folder)
		}
		if err == nil {
			err = emptyFolder(work)
		}
	}
	if err != nil {
		return fmt.Errorf("remove what an earlier start left: %w", err)
	}
	return nil
}

// emptyDisk returns a file with an empty file system of this size. Disks are copies of it, which
// takes a few milliseconds where creating a file system takes 60.
func (d *Driver) emptyDisk(ctx context.Context, size int64) (string, error) {
	folder := filepath.Join(d.options.StateDir, emptyDisks)
	path := filepath.Join(folder, strconv.FormatInt(size, 10))
	d.making.Lock()
	defer d.making.Unlock()
	// An existing file is complete, because it gets its name last.
	if _, err := os.Lstat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return "", err
	}
	return path, makeDisk(ctx, path, size)
}

// copySparse copies a file without its holes. The copy gets its final name last.
func copySparse(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	partial := to + ".new"
	target, err := os.OpenFile(partial, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	err = errors.Join(copyData(source, target), target.Truncate(info.Size()), target.Close())
	if err != nil {
		return err
	}
	return os.Rename(partial, to)
}

// copyData copies what is not in a hole.
func copyData(source, target *os.File) error {
	for end := int64(0); ; {
		start, err := source.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return nil // the rest is a hole
		}
		if err == nil {
			end, err = source.Seek(start, unix.SEEK_HOLE)
		}
		for _, file := range []*os.File{source, target} {
			if err == nil {
				_, err = file.Seek(start, io.SeekStart)
			}
		}
		if err == nil {
			_, err = io.CopyN(target, source, end-start)
		}
		if err != nil {
			return err
		}
	}
}

// makeDisk creates a file with an empty file system. The file gets its final name last.
func makeDisk(ctx context.Context, image string, size int64) error {
	partial := image + ".new"
	err := os.WriteFile(partial, nil, fileMode)
	if err == nil {
		err = os.Truncate(partial, size)
	}
	if err == nil {
		// Write only what the instance writes: a new file already reads as zeros.
		var output []byte
		output, err = exec.CommandContext(ctx, diskProgram, "-q", "-F", "-m", "0", "-J", "size=8", "-O", "^resize_inode",
			"-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1", partial).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", diskProgram, err, output)
		}
	}
	if err == nil {
		err = os.Rename(partial, image)
	}
	return err
}

// mountDisk mounts the file system in a file, unless it is already mounted.
func mountDisk(ctx context.Context, image, folder string) error {
	if err := os.MkdirAll(folder, publicMode); err != nil {
		return fmt.Errorf("mount the instance's disk: %w", err)
	}
	mounted, err := isMountPoint(folder)
	if err != nil || mounted {
		return err
	}
	if err := awaitDetached(ctx, image); err != nil {
		return err
	}
	device, err := attachLoop(image)
	if err != nil {
		return fmt.Errorf("mount the instance's disk: %w", err)
	}
	// The loop device is detached when the disk is unmounted.
	defer func() { _ = device.Close() }()
	if err := unix.Mount(device.Name(), folder, "ext4", unix.MS_NOATIME, "discard,noinit_itable"); err != nil {
		return fmt.Errorf("mount the instance's disk: %w", err)
	}
	return nil
}

// awaitUnmounted unmounts a disk as soon as nobody uses it. It returns an error if somebody keeps it.
func awaitUnmounted(ctx context.Context, folder string) error {
	return untilUnused(ctx, func() (bool, error) {
		err := unix.Unmount(folder, unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.EBUSY) {
			return true, nil
		}
		return false, err
	})
}

// awaitDetached waits until no loop device has a file, and returns an error if one keeps it. A file
// system that is mounted from two loop devices destroys itself. Another mount namespace may still
// have it, for example of a daemon that was started with mounts of its own.
func awaitDetached(ctx context.Context, image string) error {
	return untilUnused(ctx, func() (bool, error) { return isAttached(image) })
}

// untilUnused waits until a disk is no longer used, and returns an error if that takes too long.
func untilUnused(ctx context.Context, used func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, detachInterval, detachTimeout, true, func(context.Context) (bool, error) {
		still, err := used()
		return !still, err
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("the instance's disk is still in use: %w", err)
	}
	return err
}

// isAttached reports whether a loop device has a file.
func isAttached(image string) (bool, error) {
	notes, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return false, err
	}
	for _, note := range notes {
		// A device that was detached meanwhile has none.
		if path, err := os.ReadFile(note); err == nil && strings.TrimSuffix(string(path), "\n") == image {
			return true, nil
		}
	}
	return false, nil
}

// emptyFolder makes a folder that is empty.
func emptyFolder(path string) error {
	if err := removeTree(path, removeEntry); err != nil {
		return err
	}
	return os.Mkdir(path, publicMode)
}

func isMountPoint(folder string) (bool, error) {
	var own, above unix.Stat_t
	if err := errors.Join(unix.Lstat(folder, &own), unix.Lstat(filepath.Dir(folder), &above)); err != nil {
		return false, fmt.Errorf("look at the instance's disk: %w", err)
	}
	return own.Dev != above.Dev, nil
}

// attachLoop attaches a file to a loop device, which stays attached as long as it is open or
// mounted.
func attachLoop(path string) (*os.File, error) {
	image, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = image.Close() }()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = control.Close() }()
	for range loopTries {
		var number int
		if number, err = unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE); err != nil {
			break
		}
		var device *os.File
		if device, err = os.OpenFile("/dev/loop"+strconv.Itoa(number), os.O_RDWR, 0); err != nil {
			break
		}
		if err = configureLoop(device, image); err == nil {
			return device, nil
		}
		_ = device.Close()
		if !errors.Is(err, unix.EBUSY) {
			break
		}
	}
	return nil, fmt.Errorf("make a loop device: %w", err)
}

// configureLoop bypasses the host's page cache if the file system can, so that no data is in memory
// twice.
func configureLoop(device, image *os.File) error {
	config := &unix.LoopConfig{Fd: uint32(image.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR | unix.LO_FLAGS_DIRECT_IO}}
	err := unix.IoctlLoopConfigure(int(device.Fd()), config)
	if errors.Is(err, unix.EINVAL) {
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		err = unix.IoctlLoopConfigure(int(device.Fd()), config)
	}
	return err
}

// removeMounted removes a folder that may be a mount point of the instance.
func removeMounted(folder string) error {
	err := unix.Unmount(folder, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount a part of the instance: %w", err)
	}
	if err := removeTree(folder, removeEntry); err != nil {
		return fmt.Errorf("remove the files: %w", err)
	}
	return nil
}

// removeFolder removes an instance's folder and everything mounted in it.
func removeFolder(folder string) error {
	for _, name := range []string{runFolder, reportFolder, diskFolder, ""} {
		if err := removeMounted(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// CheckDisks returns an error if disks of limited size cannot be made and mounted on this host.
func CheckDisks(ctx context.Context, stateDir string) error {
	folder, err := os.MkdirTemp(stateDir, RootCheckPrefix)
	if err != nil {
		return fmt.Errorf("check the state folder: %w", err)
	}
	image := filepath.Join(folder, diskFile)
	if err = makeDisk(ctx, image, checkedDisk); err == nil {
		err = inOwnMounts(func() error { return mountDisk(ctx, image, filepath.Join(folder, diskFolder)) })
	}
	return errors.Join(err, os.RemoveAll(folder))
}
