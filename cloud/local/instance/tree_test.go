// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// longest is the longest name that a file can have. tooDeep folders with this name in one another
// have a longer path than the kernel accepts.
var longest = strings.Repeat("n", unix.NAME_MAX)

const tooDeep = 17

// nest creates folders in one another, however long their path becomes. It calls inside with the
// descriptor of each.
func nest(t *testing.T, top string, levels int, inside func(folder int)) {
	t.Helper()
	g := NewWithT(t)
	folder, err := unix.Open(top, unix.O_DIRECTORY, 0)
	g.Expect(err).NotTo(HaveOccurred())
	for range levels {
		g.Expect(unix.Mkdirat(folder, longest, 0o700)).To(Succeed())
		inner, err := unix.Openat(folder, longest, unix.O_DIRECTORY, 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(unix.Close(folder)).To(Succeed())
		folder = inner
		inside(folder)
	}
	g.Expect(unix.Close(folder)).To(Succeed())
}

// makeTree creates files and the folders that they are in, and returns the folder that holds all.
func makeTree(t *testing.T, files ...string) string {
	t.Helper()
	g := NewWithT(t)
	top := t.TempDir()
	for _, file := range files {
		path := filepath.Join(top, file)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	}
	return top
}

// pathOf returns where an entry of an open folder is in a tree.
func pathOf(g Gomega, top string, folder int, entry fs.DirEntry) string {
	path, err := os.Readlink(descriptorPath(folder))
	g.Expect(err).NotTo(HaveOccurred())
	path, err = filepath.Rel(top, filepath.Join(path, entry.Name()))
	g.Expect(err).NotTo(HaveOccurred())
	return path
}

func TestWalk(t *testing.T) {
	g := NewWithT(t)
	top, outside := makeTree(t, "a/b/c", "a/d", "e/f"), makeTree(t, "secret")
	g.Expect(os.Symlink(outside, filepath.Join(top, "a", "link"))).To(Succeed())
	var visited []string
	broken := errors.New("broken")
	g.Expect(walk(top, func(folder int, entry fs.DirEntry) error {
		path := pathOf(g, top, folder, entry)
		visited = append(visited, path)
		if path == "a/b" {
			return broken
		}
		return nil
	})).To(MatchError(`"b": broken`))
	g.Expect(visited).To(ConsistOf("a", "a/b", "a/b/c", "a/d", "a/link", "e", "e/f"), "also after an error, but not outside")
	for i, path := range visited {
		g.Expect(visited[i:]).NotTo(ContainElement(HavePrefix(path+"/")), "a folder comes after what is in it")
	}
	g.Expect(walk(filepath.Join(top, "a", "link"), nil)).To(HaveOccurred(), "a link")
}

// Whoever moves a folder that the walker is in must not lead it out of the tree.
func TestWalkStopsWhenAFolderIsMoved(t *testing.T) {
	g := NewWithT(t)
	top, outside := makeTree(t, "a/b/c/file"), makeTree(t, "kept")
	g.Expect(walk(top, func(folder int, entry fs.DirEntry) error {
		path := pathOf(g, top, folder, entry)
		g.Expect(path).To(Equal("a/b/c/file"), "nothing else is visited")
		return os.Rename(filepath.Join(top, "a/b/c"), filepath.Join(outside, "c"))
	})).To(MatchError(ContainSubstring("moved")))
}

func TestRemoveTree(t *testing.T) {
	g := NewWithT(t)
	top, outside := makeTree(t, "a/b/c", "a/d", "file"), makeTree(t, "kept")
	for _, link := range []string{"link", "a/b/link", "a/link"} {
		g.Expect(os.Symlink(outside, filepath.Join(top, link))).To(Succeed())
	}
	for _, path := range []string{"file", "link", "a", "missing", "missing/too", ""} {
		g.Expect(removeTree(filepath.Join(top, path), removeEntry)).To(Succeed(), path)
		g.Expect(os.Lstat(filepath.Join(top, path))).Error().To(MatchError(fs.ErrNotExist), path)
	}
	g.Expect(filepath.Join(outside, "kept")).To(BeAnExistingFile())
}

// The kernel keeps all folders above an open one in memory. An instance may have millions in one another.
func TestRemovalHoldsFewLevels(t *testing.T) {
	g := NewWithT(t)
	before := maxLevels
	maxLevels = 10
	t.Cleanup(func() { maxLevels = before })
	chain := strings.Repeat("n/", 100)
	top := makeTree(t, chain+"file", chain+"other/file", strings.Repeat("n/", maxLevels)+"other/file")
	deepest := 0
	measure := func(folder int, entry fs.DirEntry) error {
		deepest = max(deepest, strings.Count(pathOf(g, top, folder, entry), "/"))
		return nil
	}
	g.Expect(walk(top, measure)).To(Succeed())
	g.Expect(deepest).To(Equal(101), "a walk that removes nothing moves nothing")
	deepest = 0
	g.Expect(removeTree(top, func(folder int, entry fs.DirEntry) error {
		return errors.Join(measure(folder, entry), removeEntry(folder, entry))
	})).To(Succeed())
	g.Expect(deepest).To(BeNumerically("<", maxLevels))
	g.Expect(top).NotTo(BeAnExistingFile())
}

// A folder that is nested deeper than the daemon may open files takes nothing from other instances.
func TestRemovalNeedsFewDescriptors(t *testing.T) {
	g := NewWithT(t)
	const variable = "FOO_TEST_FEW_DESCRIPTORS"
	if os.Getenv(variable) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		command.Env = append(os.Environ(), variable+"=1")
		output, err := command.CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), string(output))
		return
	}
	top := t.TempDir()
	nest(t, top, 500, func(int) {})
	g.Expect(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64})).To(Succeed())
	g.Expect(emptyFolder(top)).To(Succeed())
	g.Expect(os.ReadDir(top)).To(BeEmpty())
}
