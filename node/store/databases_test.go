// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.etcd.io/bbolt"
)

// unpacked returns the root folder of a containerd that has unpacked layers at a time, which it has
// met in this order.
func unpacked(t *testing.T, now time.Time, layers ...string) string {
	t.Helper()
	g := NewWithT(t)
	root := t.TempDir()
	for name, size := range map[string]int64{metadata: 1, snapshotsData: now.UnixNano()} {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700)).To(Succeed())
		db, err := bbolt.Open(filepath.Join(root, name), 0o644, nil)
		g.Expect(err).NotTo(HaveOccurred())
		for _, layer := range layers {
			g.Expect(db.Update(func(tx *bbolt.Tx) error { return note(tx, now, layer, size) })).To(Succeed())
		}
		g.Expect(db.Close()).To(Succeed())
	}
	for i := range layers {
		folder := filepath.Join(root, snapshotter, "snapshots", strconv.Itoa(i+1), "fs")
		g.Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(folder, "program"), make([]byte, 5000), 0o600)).To(Succeed())
		g.Expect(os.Link(filepath.Join(folder, "program"), filepath.Join(folder, "same"))).To(Succeed())
		g.Expect(os.Symlink("program", filepath.Join(folder, "link"))).To(Succeed())
	}
	return root
}

// note writes what containerd notes of a layer, whose name is its number.
func note(tx *bbolt.Tx, now time.Time, layer string, size int64) error {
	version, err := tx.CreateBucketIfNotExists([]byte("v1"))
	if err != nil {
		return err
	}
	snapshots, err := version.CreateBucketIfNotExists([]byte("snapshots"))
	if err != nil {
		return err
	}
	snapshot, err := snapshots.CreateBucket([]byte("layer " + layer))
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(layer, 10, 64)
	if err != nil {
		return err
	}
	then, err := now.MarshalBinary()
	if err != nil {
		return err
	}
	for key, value := range map[string][]byte{
		"id": binary.AppendUvarint(nil, number), "size": binary.AppendVarint(nil, size), "createdat": then, "updatedat": then, "kind": {3},
		// Only a large bucket has pages of its own.
		"labels": make([]byte, 2000),
	} {
		if err := snapshot.Put([]byte(key), value); err != nil {
			return err
		}
	}
	return nil
}

func copied(t *testing.T, root string) map[string][]byte {
	t.Helper()
	g := NewWithT(t)
	target := t.TempDir()
	g.Expect(copyDatabases(root, target)).To(Succeed())
	contents := map[string][]byte{}
	for _, name := range []string{metadata, snapshotsData} {
		content, err := os.ReadFile(filepath.Join(target, name))
		g.Expect(err).NotTo(HaveOccurred())
		contents[name] = content
	}
	return contents
}

func TestDatabasesDependOnlyOnImages(t *testing.T) {
	g := NewWithT(t)
	// So many fill several pages.
	var layers []string
	for i := range 50 {
		layers = append(layers, strconv.Itoa(i+1))
	}
	first := copied(t, unpacked(t, time.Now(), layers...))
	slices.Reverse(layers)
	second := copied(t, unpacked(t, time.Now().Add(time.Hour), layers...))
	for name := range first {
		g.Expect(slices.Equal(first[name], second[name])).To(BeTrue(), name)
	}
	other := copied(t, unpacked(t, time.Now(), "1", "2"))
	g.Expect(slices.Equal(first[metadata], other[metadata])).To(BeFalse())
}

func TestDatabasesKeepWhatContainerdNotes(t *testing.T) {
	g := NewWithT(t)
	root, target := unpacked(t, time.Now(), "1", "2"), t.TempDir()
	g.Expect(copyDatabases(root, target)).To(Succeed())
	db, err := bbolt.Open(filepath.Join(target, snapshotsData), 0o644, &bbolt.Options{ReadOnly: true})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(db.Close()).To(Succeed()) }()
	g.Expect(db.View(func(tx *bbolt.Tx) error {
		snapshot := tx.Bucket([]byte("v1")).Bucket([]byte("snapshots")).Bucket([]byte("layer 2"))
		g.Expect(snapshot.Get([]byte("kind"))).To(Equal([]byte{3}))
		size, _ := binary.Varint(snapshot.Get([]byte("size")))
		g.Expect(size).To(BeEquivalentTo(3*4096), "the folder, and the program once")
		var created time.Time
		g.Expect(created.UnmarshalBinary(snapshot.Get([]byte("createdat")))).To(Succeed())
		g.Expect(created.Unix()).To(BeZero())
		return nil
	})).To(Succeed())
}

func TestDatabasesThatCannotBeCopied(t *testing.T) {
	g := NewWithT(t)
	root := unpacked(t, time.Now(), "1")
	g.Expect(os.RemoveAll(filepath.Join(root, snapshotter, "snapshots", "1"))).To(Succeed())
	g.Expect(copyDatabases(root, t.TempDir())).To(MatchError(ContainSubstring("measure the snapshot layer 1")))
	g.Expect(copyDatabases(unpacked(t, time.Now()), t.TempDir())).To(MatchError(ContainSubstring("there is nothing in it")))
}
