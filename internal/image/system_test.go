// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

const dpkgStatus = `Package: libc6
Status: install ok installed
Architecture: arm64
Version: 2.41-12
Description: a library
 of several lines

Package: passwd
Version: 1:4.17.4-2
Architecture: all
`

func TestReadSystem(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(dpkgStatus), 0o600)).To(Succeed())
		g.Expect(os.Chmod(path, mode)).To(Succeed())
		return path
	}
	_, _, err := ReadSystem(root)
	g.Expect(err).To(MatchError(os.ErrNotExist), "there is no list of packages")

	status, program := write(packagesFile, 0o644), write("usr/bin/su", 0o755|os.ModeSetuid)
	g.Expect(os.Symlink("usr/bin", filepath.Join(root, "bin"))).To(Succeed())
	own := func(file File) File {
		file.User, file.Group = os.Getuid(), os.Getgid()
		return file
	}
	link := filepath.Join(t.TempDir(), "system")
	g.Expect(os.Symlink(root, link)).To(Succeed())
	files, packages, err := ReadSystem(link)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(packages).To(Equal([]Package{
		{Name: "libc6", Version: "2.41-12", Architecture: "arm64"}, {Name: "passwd", Version: "1:4.17.4-2", Architecture: "all"},
	}))
	g.Expect(packages[1].URL()).To(Equal("pkg:deb/debian/passwd@1%3A4.17.4-2?arch=all&distro=debian-13"))
	g.Expect(files).To(ConsistOf(
		own(Folder("var", 0o755)), own(Folder("var/lib", 0o755)), own(Folder("var/lib/dpkg", 0o755)),
		own(Folder("usr", 0o755)), own(Folder("usr/bin", 0o755)), own(Link("bin", "usr/bin")),
		own(File{Path: packagesFile, Kind: tar.TypeReg, Mode: 0o644, Source: status}),
		own(File{Path: "usr/bin/su", Kind: tar.TypeReg, Mode: 0o4755, Source: program}),
	))

	g.Expect(unix.Mkfifo(filepath.Join(root, "pipe"), 0o600)).To(Succeed())
	_, _, err = ReadSystem(root)
	g.Expect(err).To(MatchError(ContainSubstring("neither a file, a folder nor a link")))
	g.Expect(os.Remove(filepath.Join(root, "pipe"))).To(Succeed())
	g.Expect(os.WriteFile(status, nil, 0o600)).To(Succeed())
	_, _, err = ReadSystem(root)
	g.Expect(err).To(MatchError(ContainSubstring("has no packages")))
}
