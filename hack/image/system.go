// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Package is a Debian package of an operating system.
type Package struct {
	// Name, Version and Architecture of the package, as Debian has them.
	Name, Version, Architecture string
}

// packagesFile is where dpkg keeps what is installed.
const packagesFile = "var/lib/dpkg/status"

// permissions are the bits of a mode that chmod(2) sets.
const permissions = 0o7777

// URL returns the package's URL of the purl specification.
func (p Package) URL() string {
	// A version may have + and ~, which stand for themselves, and an epoch with a colon.
	return "pkg:deb/debian/" + p.Name + "@" + strings.ReplaceAll(p.Version, ":", "%3A") + "?arch=" + p.Architecture + "&distro=debian-13"
}

// ReadTree reads an operating system that is unpacked in a folder, as hack/build-store.sh completes it, and the packages that it
// is made of. The contents stay in the folder.
func ReadTree(folder string) ([]File, []Package, error) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, nil, err
	}
	var files []File
	err = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		file, err := treeFile(folder, path)
		files = append(files, file)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the operating system in %s: %w", folder, err)
	}
	status, err := os.ReadFile(filepath.Join(folder, packagesFile))
	if err != nil {
		return nil, nil, fmt.Errorf("read the packages of the operating system: %w", err)
	}
	packages := parsePackages(status)
	if len(packages) == 0 {
		return nil, nil, fmt.Errorf("the operating system in %s has no packages in %s", folder, packagesFile)
	}
	return files, packages, nil
}

func treeFile(folder, path string) (File, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return File{}, err
	}
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return File{}, err
	}
	file := File{Path: filepath.ToSlash(name), Mode: int64(stat.Mode & permissions), User: int(stat.Uid), Group: int(stat.Gid)}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		file.Kind, file.Source = tar.TypeReg, path
	case unix.S_IFDIR:
		file.Kind = tar.TypeDir
	case unix.S_IFLNK:
		file.Kind = tar.TypeSymlink
		file.Target, err = os.Readlink(path)
	default:
		err = fmt.Errorf("%s is neither a file, a folder nor a link", path)
	}
	return file, err
}

// ReadSystem reads an operating system, as hack/build-system.sh writes it, and the packages that it is made of. Device nodes are left
// out: who runs the image gives it its own.
func ReadSystem(archive io.Reader) ([]File, []Package, error) {
	var files []File
	var packages []Package
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the operating system: %w", err)
		}
		file, err := readFile(header, reader)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s of the operating system: %w", header.Name, err)
		}
		if file.Path == "" || strings.HasPrefix(file.Path, "dev/") {
			continue
		}
		if file.Path == packagesFile {
			packages = parsePackages(file.Content)
		}
		files = append(files, file)
	}
	if len(packages) == 0 {
		return nil, nil, fmt.Errorf("the operating system has no packages in %s", packagesFile)
	}
	return files, packages, nil
}

func readFile(header *tar.Header, content io.Reader) (File, error) {
	file := File{
		Path: strings.TrimPrefix(path.Clean("/"+header.Name), "/"), Kind: header.Typeflag, Mode: header.Mode & permissions,
		User: header.Uid, Group: header.Gid, Target: header.Linkname,
	}
	switch header.Typeflag {
	case tar.TypeLink:
		file.Target = strings.TrimPrefix(path.Clean("/"+header.Linkname), "/")
	case tar.TypeReg:
		var err error
		file.Content, err = io.ReadAll(content)
		return file, err
	case tar.TypeDir, tar.TypeSymlink:
	case tar.TypeChar, tar.TypeBlock:
		if !strings.HasPrefix(file.Path, "dev/") {
			return file, errors.New("a device node outside /dev")
		}
	default:
		return file, fmt.Errorf("type %q, want a file, folder or link", header.Typeflag)
	}
	return file, nil
}

// parsePackages reads dpkg's list: paragraphs of fields, one for each package.
func parsePackages(status []byte) []Package {
	var packages []Package
	var current Package
	lines := bufio.NewScanner(bytes.NewReader(append(status, "\n\n"...)))
	lines.Buffer(nil, len(status)+2)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "Package":
			current.Name = value
		case "Version":
			current.Version = value
		case "Architecture":
			current.Architecture = value
		case "":
			if current.Name != "" {
				packages = append(packages, current)
			}
			current = Package{}
		}
	}
	return packages
}
