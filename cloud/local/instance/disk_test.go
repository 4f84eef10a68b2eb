//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// fill writes to a file until that fails, and returns the error.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for err == nil {
		_, err = file.Write(bytes.Repeat([]byte("x"), 1<<20))
		if err == nil {
			err = file.Sync()
		}
	}
	return err
}

// syncAll makes the kernel write what it has of a file system, which may fail.
func syncAll(folder string) {
	file, err := os.Open(folder)
	if err == nil {
		_ = unix.Syncfs(int(file.Fd()))
		_ = file.Close()
	}
}

// The disks of all instances together may be larger than the host's.
func TestADiskCanBeUsedAgainOnceTheHostHasRoom(t *testing.T) {
	g := NewWithT(t)
	const id = "one"
	state := t.TempDir()
	g.Expect(unix.Mount("tmpfs", state, "tmpfs", 0, "size=64m")).To(Succeed())
	t.Cleanup(func() { g.Expect(unix.Unmount(state, 0)).To(Succeed()) })
	d := &Driver{options: Options{StateDir: state}}
	spec := engine.MachineSpec{Instance: cloud.Instance{DiskBytes: 256 << 20}}
	spec.ID = id
	g.Expect(os.MkdirAll(d.folder(id), folderMode)).To(Succeed())
	t.Cleanup(func() { g.Expect(removeFolder(d.folder(id))).To(Succeed()) })
	g.Expect(d.openDisk(t.Context(), spec)).To(Succeed())
	logs := filepath.Join(d.disk(id), privateFolder, "log")
	g.Expect(os.MkdirAll(logs, folderMode)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(logs, kubeletLog), nil, fileMode)).To(Succeed())
	kept := filepath.Join(d.disk(id), "kept")
	g.Expect(os.WriteFile(kept, []byte("kept"), fileMode)).To(Succeed())
	syncAll(d.disk(id))

	// Somebody else takes the host's room, and the instance goes on writing.
	g.Expect(fill(filepath.Join(state, "other"))).To(MatchError(unix.ENOSPC))
	g.Expect(fill(filepath.Join(d.disk(id), "more"))).To(HaveOccurred())
	g.Eventually(func() error {
		folder, err := os.MkdirTemp(d.disk(id), "new")
		if err == nil {
			syncAll(folder)
		}
		return err
	}, soon).Should(MatchError(unix.EROFS))
	g.Expect(os.Remove(filepath.Join(state, "other"))).To(Succeed())

	// Somebody still reads a log on the disk.
	log, err := d.Log(t.Context(), id, engine.Log{Source: engine.LogKubelet, Follow: true})
	g.Expect(err).NotTo(HaveOccurred())
	go func() {
		_, _ = io.Copy(io.Discard, log)
		_ = log.Close()
	}()
	g.Expect(removeMounted(filepath.Join(d.folder(id), runFolder))).To(Succeed())
	g.Expect(removeMounted(filepath.Join(d.folder(id), reportFolder))).To(Succeed())
	g.Expect(d.openDisk(t.Context(), spec)).To(Succeed())
	g.Expect(os.ReadFile(kept)).To(BeEquivalentTo("kept"))
	g.Expect(os.WriteFile(filepath.Join(d.disk(id), "again"), []byte("again"), fileMode)).To(Succeed())
}

// A file system that is mounted twice destroys itself. Another mount namespace may still have it.
func TestADiskIsNotMountedTwice(t *testing.T) {
	g := NewWithT(t)
	const id = "one"
	d := &Driver{options: Options{StateDir: t.TempDir()}}
	spec := engine.MachineSpec{Instance: cloud.Instance{DiskBytes: 64 << 20}}
	spec.ID = id
	g.Expect(os.MkdirAll(d.folder(id), folderMode)).To(Succeed())
	t.Cleanup(func() { g.Expect(removeFolder(d.folder(id))).To(Succeed()) })
	opened, leave, left := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		left <- inOwnMounts(func() error {
			opened <- d.openDisk(t.Context(), spec)
			<-leave
			return nil
		})
	}()
	g.Expect(<-opened).To(Succeed())

	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	g.Expect(d.openDisk(brief, spec)).To(MatchError(ContainSubstring("still in use")))
	g.Expect(isMountPoint(filepath.Join(d.folder(id), diskFolder))).To(BeFalse())

	close(leave)
	g.Expect(<-left).To(Succeed())
	g.Expect(d.openDisk(t.Context(), spec)).To(Succeed(), "nobody has it any more")
}
