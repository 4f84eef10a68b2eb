// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// entriesAtOnce is how many entries of a folder are read at a time.
const entriesAtOnce = 1000

// maxLevels is how many levels deep a removal goes. The kernel keeps all folders above an open one in memory.
var maxLevels = 1000

// visitor acts on an entry of a folder, which is given as a file descriptor.
type visitor func(folder int, entry fs.DirEntry) error

// removeTree removes a folder or file that an instance can write to; see walk. A missing one is not
// an error. The visitor removes what is in the folder.
func removeTree(path string, visit visitor) error {
	err := os.Remove(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err = dismantle(path, visit); err == nil {
			err = os.Remove(path)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// dismantle walks a folder to remove what is in it. What is too deep is moved to the top, where another walk
// finds it.
func dismantle(path string, visit visitor) error {
	top, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(top) }()
	for {
		w := &walker{visit: visit, removal: &removal{top: top}}
		if err := w.walk(path); err != nil || !w.removal.raised {
			return err
		}
	}
}

// removal is what a walk has to know to remove what it walks through.
type removal struct {
	top int
	// raised means that a folder was moved to the top, for another walk.
	raised bool
}

// raise moves a folder to the top, and reports whether it could: it cannot leave its file system, and no
// cgroup can move.
func (r *removal) raise(folder int, entry fs.DirEntry) bool {
	moved := unix.Renameat(folder, entry.Name(), r.top, rand.Text()) == nil
	r.raised = r.raised || moved
	return moved
}

// removeEntry is the visitor that removes everything.
func removeEntry(folder int, entry fs.DirEntry) error {
	flags := 0
	if entry.IsDir() {
		flags = unix.AT_REMOVEDIR
	}
	return unix.Unlinkat(folder, entry.Name(), flags)
}

// walk visits everything in a folder, and each folder after what is in it. It is for folders that an
// instance can write to: these may be nested deeper than a path can be long, or than the daemon may
// open files. So walk opens each folder from the previous one, follows no links, and has only one
// folder open.
//
// An entry that disappears meanwhile is not an error. After another error, walk visits the remaining
// entries, and then returns the error.
func walk(top string, visit visitor) error { return (&walker{visit: visit}).walk(top) }

func (w *walker) walk(top string) error {
	defer func() { _ = w.folder.Close() }()
	w.note(w.enter(top))
	for len(w.levels) > 0 {
		if len(w.here().folders) > 0 {
			w.descend()
		} else if err := w.ascend(); err != nil {
			return err
		}
	}
	return w.failed
}

// walker is in one folder at a time.
type walker struct {
	visit visitor
	// removal is nil if nothing is removed.
	removal  *removal
	folder   *os.File
	identity identity
	// levels describes the folders from the top to the one that the walker is in.
	levels []level
	// failed is the first error.
	failed error
}

// identity tells a folder from all others.
type identity struct{ device, inode uint64 }

type level struct {
	identity identity
	// folders are the folders in this one that are not visited yet. The walker may be in the last.
	folders []fs.DirEntry
}

func (w *walker) here() *level { return &w.levels[len(w.levels)-1] }

// open moves the walker to a folder, whose name is relative to the one that it is in.
func (w *walker) open(name string) error {
	from := unix.AT_FDCWD
	if w.folder != nil {
		from = int(w.folder.Fd())
	}
	descriptor, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	folder := os.NewFile(uintptr(descriptor), descriptorPath(descriptor))
	var stat unix.Stat_t
	if err := unix.Fstat(descriptor, &stat); err != nil {
		return errors.Join(err, folder.Close())
	}
	_ = w.folder.Close()
	w.folder, w.identity = folder, identity{device: stat.Dev, inode: stat.Ino}
	return nil
}

// enter opens a folder and visits what is in it, except for folders.
func (w *walker) enter(name string) error {
	if err := w.open(name); err != nil {
		return err
	}
	if w.removal != nil && w.identity.inode == subvolumeInode {
		unlockSubvolume(int(w.folder.Fd()))
	}
	w.levels = append(w.levels, level{identity: w.identity})
	for {
		entries, err := w.folder.ReadDir(entriesAtOnce)
		for _, entry := range entries {
			if entry.IsDir() {
				w.here().folders = append(w.here().folders, entry)
			} else {
				w.act(entry)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			w.note(err)
			return nil
		}
	}
}

// descend enters the next folder in this one, unless it is raised.
func (w *walker) descend() {
	here := w.here()
	last := len(here.folders) - 1
	if w.removal != nil && len(w.levels) >= maxLevels && w.removal.raise(int(w.folder.Fd()), here.folders[last]) {
		here.folders = here.folders[:last]
		return
	}
	if err := w.enter(here.folders[last].Name()); err != nil {
		w.note(err)
		w.leave()
	}
}

// ascend returns to the folder above, and visits the folder that it comes from.
func (w *walker) ascend() error {
	w.levels = w.levels[:len(w.levels)-1]
	if len(w.levels) == 0 {
		return nil
	}
	if err := w.open(".."); err != nil {
		return err
	}
	// Otherwise, whoever moves a folder could lead the walker anywhere.
	if w.identity != w.here().identity {
		return errors.New("a folder was moved to another one")
	}
	w.leave()
	return nil
}

// leave visits the folder that the walker comes from.
func (w *walker) leave() {
	here := w.here()
	last := len(here.folders) - 1
	w.act(here.folders[last])
	here.folders = here.folders[:last]
}

func (w *walker) act(entry fs.DirEntry) {
	if err := w.visit(int(w.folder.Fd()), entry); err != nil {
		w.note(fmt.Errorf("%q: %w", entry.Name(), err))
	}
}

func (w *walker) note(err error) {
	if w.failed == nil && !errors.Is(err, fs.ErrNotExist) {
		w.failed = err
	}
}

// descriptorPath is a path of an open file.
func descriptorPath(descriptor int) string { return fmt.Sprintf("/proc/self/fd/%d", descriptor) }
