// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Package is a Debian package of an operating system.
type Package struct{ Name, Version, Architecture string }

// packagesFile is where dpkg keeps what is installed.
const packagesFile = "var/lib/dpkg/status"

// URL returns the package's URL of the purl specification.
func (p Package) URL() string {
	// A version may have + and ~, which stand for themselves, and an epoch with a colon.
	return "pkg:deb/debian/" + p.Name + "@" + strings.ReplaceAll(p.Version, ":", "%3A") + "?arch=" + p.Architecture + "&distro=debian-13"
}

// ReadSystem reads an operating system that is unpacked in a folder, and the packages that it
// consists of. The contents stay in the folder.
func ReadSystem(folder string) ([]File, []Package, error) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, nil, err
	}
	var files []File
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		file, err := readFile(folder, path, entry)
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

func readFile(folder, path string, entry fs.DirEntry) (File, error) {
	info, err := entry.Info()
	if err != nil {
		return File{}, err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return File{}, err
	}
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return File{}, err
	}
	file := File{Path: name, Kind: header.Typeflag, Mode: header.Mode, User: header.Uid, Group: header.Gid}
	switch header.Typeflag {
	case tar.TypeReg:
		file.Source = path
	case tar.TypeDir:
	case tar.TypeSymlink:
		file.Target, err = os.Readlink(path)
	default:
		err = fmt.Errorf("%s is neither a file, a folder nor a link", path)
	}
	return file, err
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
