// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// Databases below containerd's root folder.
const (
	metadata      = "io.containerd.metadata.v1.bolt/meta.db"
	snapshotter   = "io.containerd.snapshotter.v1.overlayfs"
	snapshotsData = snapshotter + "/metadata.db"
)

// version is the bucket that has all others.
const version = "v1"

const (
	folderMode   = 0o700
	databaseMode = 0o600
)

// copyDatabases copies databases so that their bytes depend only on the images that containerd has
// unpacked, and not on the time, the file system or the order of its writes.
func copyDatabases(from, to string) error {
	for name, settle := range map[string]func(*bbolt.Tx) error{
		metadata: settleTimes,
		snapshotsData: func(tx *bbolt.Tx) error {
			if err := settleTimes(tx); err != nil {
				return err
			}
			return settleSizes(tx, filepath.Join(from, snapshotter, "snapshots"))
		},
	} {
		if err := copyDatabase(filepath.Join(from, name), filepath.Join(to, name), settle); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return nil
}

// copyDatabase settles a database and copies it to a new file, whose pages have no trace of earlier
// transactions.
func copyDatabase(from, to string, settle func(*bbolt.Tx) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), folderMode); err != nil {
		return err
	}
	// The size of a page would otherwise be this machine's.
	const pageSize = 4096
	source, err := open(from, pageSize)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.Update(settle); err != nil {
		return err
	}
	target, err := open(to, pageSize)
	if err != nil {
		return err
	}
	// A transaction allocates pages for its changes in random order, so each has one change only.
	const transactionSize = 1
	return errors.Join(bbolt.Compact(target, source, transactionSize), target.Sync(), target.Close())
}

func open(path string, pageSize int) (*bbolt.DB, error) {
	return bbolt.Open(path, databaseMode, &bbolt.Options{Timeout: time.Second, PageSize: pageSize, NoSync: true})
}

// settleTimes gives everything the same time.
func settleTimes(tx *bbolt.Tx) error {
	then, err := time.Unix(0, 0).UTC().MarshalBinary()
	if err != nil {
		return err
	}
	if tx.Bucket([]byte(version)) == nil {
		return errors.New("there is nothing in it")
	}
	return tx.ForEach(func(_ []byte, bucket *bbolt.Bucket) error { return settleBucket(bucket, then) })
}

func settleBucket(bucket *bbolt.Bucket, then []byte) error {
	for _, key := range [][]byte{[]byte("createdat"), []byte("updatedat")} {
		if bucket.Get(key) == nil {
			continue
		}
		if err := bucket.Put(key, then); err != nil {
			return err
		}
	}
	return bucket.ForEachBucket(func(key []byte) error { return settleBucket(bucket.Bucket(key), then) })
}

// settleSizes stores the sizes of the files in snapshots. containerd stores how many blocks they
// take in this machine's file system.
func settleSizes(tx *bbolt.Tx, folder string) error {
	snapshots := tx.Bucket([]byte(version)).Bucket([]byte("snapshots"))
	if snapshots == nil {
		return errors.New("there are no snapshots")
	}
	return snapshots.ForEachBucket(func(key []byte) error {
		snapshot := snapshots.Bucket(key)
		id, read := binary.Uvarint(snapshot.Get([]byte("id")))
		if read <= 0 {
			return fmt.Errorf("the snapshot %s has no number", key)
		}
		size, err := sizeOf(filepath.Join(folder, strconv.FormatUint(id, 10), "fs"))
		if err != nil {
			return fmt.Errorf("measure the snapshot %s: %w", key, err)
		}
		return snapshot.Put([]byte("size"), binary.AppendVarint(nil, size))
	})
}

// sizeOf returns the size of a folder with blocks of 4 KiB.
func sizeOf(folder string) (int64, error) {
	const block = 4096
	var size int64
	counted := map[uint64]bool{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			size += block
			return nil
		}
		var stat unix.Stat_t
		if err := unix.Lstat(path, &stat); err != nil {
			return err
		}
		if entry.Type().IsRegular() && !counted[stat.Ino] {
			size += (stat.Size + block - 1) / block * block
		}
		counted[stat.Ino] = true
		return nil
	})
	return size, err
}
