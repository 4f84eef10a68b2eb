// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"os"
	"path/filepath"
	"testing"
)

// write creates files in a folder, given by their relative paths.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func expect(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, want := range files {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(content) != want {
			t.Errorf("%s is %q (%v), want %q", name, content, err, want)
		}
	}
}

func TestPreload(t *testing.T) {
	store, root := t.TempDir(), t.TempDir()
	layer := "io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs/bin/program"
	write(t, store, map[string]string{
		"id": "first\n", "template/io.containerd.metadata.v1.bolt/meta.db": "database", "snapshots/1/fs/bin/program": "program",
	})
	preload := func() {
		t.Helper()
		if err := Preload(store, root); err != nil {
			t.Fatal(err)
		}
	}
	preload()
	expect(t, root, map[string]string{"io.containerd.metadata.v1.bolt/meta.db": "database", layer: "program"})

	t.Log("what containerd has written stays at the next boot")
	write(t, root, map[string]string{"io.containerd.metadata.v1.bolt/meta.db": "changed", "pulled": "image"})
	preload()
	expect(t, root, map[string]string{"io.containerd.metadata.v1.bolt/meta.db": "changed", "pulled": "image"})

	t.Log("with another store, everything starts over, even after an interruption")
	write(t, store, map[string]string{"id": "second\n"})
	if err := os.Remove(filepath.Join(root, "id")); err != nil {
		t.Fatal(err)
	}
	preload()
	expect(t, root, map[string]string{"io.containerd.metadata.v1.bolt/meta.db": "database", layer: "program", "id": "second\n"})
	if _, err := os.Stat(filepath.Join(root, "pulled")); err == nil {
		t.Error("an image of the store before is still there")
	}
	expect(t, store, map[string]string{"snapshots/1/fs/bin/program": "program"})
}

func TestPreloadWithoutStore(t *testing.T) {
	root := t.TempDir()
	if err := Preload(filepath.Join(root, "missing"), root); err != nil {
		t.Error(err)
	}
}
