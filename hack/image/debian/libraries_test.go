//go:build integration

/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package debian

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"path"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
)

// cache is where make images and make release keep packages too.
const cache = "../../../bin/packages"

// root is what is in an image's root, by path.
type root map[string]image.File

// resolve follows links in folders and at the end of a path.
func (r root) resolve(name string) (image.File, bool) {
	const manyLinks = 40
	for range manyLinks {
		name = path.Clean("/" + name)[1:]
		next, moved := r.follow(name)
		if !moved {
			file, found := r[name]
			return file, found
		}
		name = next
	}
	return image.File{}, false
}

// follow replaces the first link in a path.
func (r root) follow(name string) (string, bool) {
	for end := 0; end <= len(name); end++ {
		if end < len(name) && name[end] != '/' {
			continue
		}
		link, found := r[name[:end]]
		if !found || link.Kind != tar.TypeSymlink {
			continue
		}
		target := link.Target
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(link.Path), target)
		}
		return path.Join(target, name[end:]), true
	}
	return name, false
}

// TestProgramsFindTheirLibraries is why the list may leave out what Debian says that a package depends on.
func TestProgramsFindTheirLibraries(t *testing.T) {
	for architecture, folder := range map[string]string{"amd64": "usr/lib/x86_64-linux-gnu", "arm64": "usr/lib/aarch64-linux-gnu"} {
		t.Run(architecture, func(t *testing.T) {
			g := NewWithT(t)
			_, paths, err := Fetcher{Folder: cache}.FetchForTest(t.Context(), architecture)
			g.Expect(err).NotTo(HaveOccurred())
			files, err := Files(t.Context(), paths)
			g.Expect(err).NotTo(HaveOccurred())
			all := root{}
			for _, file := range files {
				all[file.Path] = file
			}
			for _, needed := range []string{"bin/sh", "bin/cp", "bin/mount", "sbin/losetup", "bin/env", "etc/os-release"} {
				_, found := all.resolve(needed)
				g.Expect(found).To(BeTrue(), needed)
			}
			checked := 0
			for _, file := range files {
				if bytes.HasPrefix(file.Content, []byte(elf.ELFMAG)) {
					checked++
					all.checkLibraries(g, file, folder)
				}
			}
			g.Expect(checked).To(BeNumerically(">", 100))
		})
	}
}

// checkLibraries looks for all that a program or library is linked with, and the loader.
func (r root) checkLibraries(g *WithT, file image.File, folder string) {
	program, err := elf.NewFile(bytes.NewReader(file.Content))
	g.Expect(err).NotTo(HaveOccurred(), file.Path)
	libraries, err := program.ImportedLibraries()
	g.Expect(err).NotTo(HaveOccurred(), file.Path)
	for _, library := range libraries {
		_, found := r.resolve(path.Join(folder, library))
		_, foundLoader := r.resolve(path.Join("usr/lib", library))
		_, foundLoader64 := r.resolve(path.Join("lib64", library))
		g.Expect(found || foundLoader || foundLoader64).To(BeTrue(), "%s needs %s", file.Path, library)
	}
	for _, part := range program.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		loader := make([]byte, part.Filesz-1)
		_, err := part.ReadAt(loader, 0)
		g.Expect(err).NotTo(HaveOccurred(), file.Path)
		_, found := r.resolve(string(loader))
		g.Expect(found).To(BeTrue(), "%s needs %s", file.Path, loader)
	}
}
