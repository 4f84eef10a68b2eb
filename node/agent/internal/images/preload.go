// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// Root is containerd's root folder.
	Root = "/var/lib/containerd"

	// idFile holds a store's unique ID. The copy in containerd's folder identifies the store that
	// the folder was created from.
	idFile         = "id"
	templateFolder = "template"
	snapshots      = "snapshots"
	snapshotter    = "io.containerd.snapshotter.v1.overlayfs"
	layerFolder    = "fs"
	folderMode     = 0o700
	fileMode       = 0o600
)

// Preload makes the images of a store available to a containerd that is not running yet and whose
// folder is root. If the folder was created from another store, its links are dangling, so Preload
// starts over: images that were pulled must be pulled again, and containers created again.
func Preload(store, root string) error {
	id, err := os.ReadFile(filepath.Join(store, idFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil // without a store, all images come from registries
	}
	if err != nil {
		return fmt.Errorf("read the store of images: %w", err)
	}
	made, err := os.ReadFile(filepath.Join(root, idFile))
	if err == nil && string(made) == string(id) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read which images containerd has: %w", err)
	}
	for _, step := range []func(store, root string) error{empty, copyTemplate, linkSnapshots} {
		if err := step(store, root); err != nil {
			return fmt.Errorf("lay out the images of the node: %w", err)
		}
	}
	// Written last, so that an interrupted run starts over.
	if err := os.WriteFile(filepath.Join(root, idFile), id, fileMode); err != nil { //nolint:gosec // G703: what comes from a file is no part of the path
		return fmt.Errorf("note which images containerd has: %w", err)
	}
	return nil
}

// empty removes the contents of the folder but keeps the folder, which may be a mount point.
func empty(_, root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		errs = append(errs, os.RemoveAll(filepath.Join(root, entry.Name())))
	}
	return errors.Join(errs...)
}

func copyTemplate(store, root string) error {
	return os.CopyFS(root, os.DirFS(filepath.Join(store, templateFolder)))
}

// linkSnapshots creates a link where containerd looks for each unpacked layer. When containerd
// deletes an image, it removes only the link.
func linkSnapshots(store, root string) error {
	entries, err := os.ReadDir(filepath.Join(store, snapshots))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		folder := filepath.Join(root, snapshotter, snapshots, entry.Name())
		if err := os.MkdirAll(folder, folderMode); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(store, snapshots, entry.Name(), layerFolder), filepath.Join(folder, layerFolder)); err != nil {
			return err
		}
	}
	return nil
}
