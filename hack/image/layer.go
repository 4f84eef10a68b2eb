// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// File is one file, folder or link of a layer.
type File struct {
	// Path from the root, without a slash at either end.
	Path string
	// Kind is tar.TypeReg, tar.TypeDir, tar.TypeSymlink or tar.TypeLink.
	Kind byte
	// Mode holds the permissions, with the bits for set-user-ID, set-group-ID and sticky as chmod(2) has them.
	Mode int64
	// User and Group are the owner's numbers.
	User, Group int
	// Target of a link: for a hard link a Path, for a symbolic one what it says.
	Target string
	// Content of a regular file.
	Content []byte
}

// Folder returns a folder of root's.
func Folder(path string, mode int64) File { return File{Path: path, Kind: tar.TypeDir, Mode: mode} }

// Regular returns a regular file of root's.
func Regular(path string, mode int64, content []byte) File {
	return File{Path: path, Kind: tar.TypeReg, Mode: mode, Content: content}
}

// Link returns a symbolic link.
func Link(path, target string) File {
	return File{Path: path, Kind: tar.TypeSymlink, Mode: linkMode, Target: target}
}

const (
	folderMode  = 0o755
	fileMode    = 0o644
	programMode = 0o755
	// linkMode is what every symbolic link has; nothing asks for it.
	linkMode = 0o777
)

// Layer is what one layer of an image adds.
type Layer struct {
	// Content says what it holds; it stands in the image's history.
	Content string
	// Files in any order. Folders that are missing above them are made.
	Files []File
	// Plain layers are not compressed: they are read on the machine that makes them.
	Plain bool

	made v1.Layer
}

// build returns the layer for images. Those that have it share what the first of them has made.
func (l *Layer) build() (v1.Layer, error) {
	if l.made != nil {
		return l.made, nil
	}
	content, err := l.pack()
	if err != nil {
		return nil, err
	}
	if l.Plain {
		l.made = static.NewLayer(content, types.OCIUncompressedLayer)
		return l.made, nil
	}
	l.made, err = tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	return l.made, err
}

// pack returns the layer as a tar file, in the order of the paths and without times.
func (l *Layer) pack() ([]byte, error) {
	files, err := l.sorted()
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	writer := tar.NewWriter(&content)
	for _, file := range files {
		header := &tar.Header{
			Typeflag: file.Kind, Name: file.Path, Mode: file.Mode, Uid: file.User, Gid: file.Group,
			Size: int64(len(file.Content)), Linkname: file.Target,
		}
		if file.Kind == tar.TypeDir {
			header.Name += "/"
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
		if _, err := writer.Write(file.Content); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// sorted returns the files in the order of their paths, so that each folder comes before what is in it.
func (l *Layer) sorted() ([]File, error) {
	byPath := map[string]File{}
	for _, file := range l.Files {
		if file.Path == "" || path.Clean("/"+file.Path) != "/"+file.Path {
			return nil, fmt.Errorf("the path %q is not one below the root", file.Path)
		}
		if _, found := byPath[file.Path]; found {
			return nil, fmt.Errorf("%s is there twice", file.Path)
		}
		byPath[file.Path] = file
	}
	for _, file := range l.Files {
		for folder := path.Dir(file.Path); folder != "."; folder = path.Dir(folder) {
			if _, found := byPath[folder]; !found {
				byPath[folder] = Folder(folder, folderMode)
			}
		}
	}
	files := make([]File, 0, len(byPath))
	for _, file := range byPath {
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// authorities returns the certificate authorities that Mozilla trusts, as the module in go.mod has them, where programs
// look for them.
func authorities() File {
	var content []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			content = append(content, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return Regular("etc/ssl/certs/ca-certificates.crt", fileMode, content)
}
