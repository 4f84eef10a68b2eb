//go:build integration && host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// small mounts a tmpfs with the options, which limit its size.
func small(t *testing.T, options string) string {
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "small")
	g.Expect(os.Mkdir(folder, folderMode)).To(Succeed())
	g.Expect(unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)).To(Succeed())
	t.Cleanup(func() { g.Expect(unix.Unmount(folder, 0)).To(Succeed()) })
	return folder
}

func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	left := temporaries(t)
	etcd := startEtcd(t, t.TempDir())
	fill(g, etcd, "key", 1000)
	folder := small(t, "size=256k")
	store, name := openFolder(t, folder), named("u1", "before-v1.36.3")
	_, err := store.Take(ctx, etcd, name, plenty)
	g.Expect(err).To(MatchError("storing the snapshot in file://" + folder + ": no space left on device"))
	g.Expect(errors.Is(err, syscall.ENOSPC)).To(BeTrue())
	g.Expect(keys(g, store)).To(BeEmpty(), "what could not be written whole is taken away")
	g.Expect(left()).To(BeEmpty())
	_, ok, err := store.Find(ctx, name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ok).To(BeFalse())

	g.Expect(unix.Mount("tmpfs", folder, "tmpfs", unix.MS_REMOUNT, "size=64m")).To(Succeed())
	_, err = store.Take(ctx, etcd, name, plenty)
	g.Expect(err).NotTo(HaveOccurred(), "there is room now")
}

func TestFullTemporaryFolder(t *testing.T) {
	g := NewWithT(t)
	etcd := startEtcd(t, t.TempDir())
	fill(g, etcd, "key", 1000)
	folder := small(t, "size=256k")
	store := openFolder(t, t.TempDir())
	t.Setenv("TMPDIR", folder)
	_, err := store.Take(context.Background(), etcd, named("u1", "before-v1.36.3"), plenty)
	g.Expect(err).To(MatchError("using a temporary file for the snapshot: no space left on device"))
	entries, err := os.ReadDir(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(BeEmpty())
}
