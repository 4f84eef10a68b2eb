// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// subvolumeInode is the inode of the folder that is the top of a subvolume of btrfs.
	subvolumeInode = 256
	// setSubvolumeFlags is the kernel's BTRFS_IOC_SUBVOL_SETFLAGS, _IOW(0x94, 26, __u64).
	setSubvolumeFlags = 1<<30 | unsafe.Sizeof(uint64(0))<<16 | 0x94<<8 | 26
)

// unlockSubvolume makes the subvolume of a folder writable. Any process of an instance can make it read-only,
// and nothing could be removed from it. Errors do not count, since other file systems have no subvolumes.
func unlockSubvolume(folder int) {
	flags := uint64(0)
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(folder), setSubvolumeFlags, uintptr(unsafe.Pointer(&flags)))
}
