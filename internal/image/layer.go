// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
	"golang.org/x/sys/unix"
)

// File is one file, folder or link of a layer.
type File struct {
	// Path from the root, without a slash at either end.
	Path string
	// Kind is tar.TypeReg, tar.TypeDir or tar.TypeSymlink.
	Kind byte
	// Mode holds the permissions, with the set-user-ID, set-group-ID and sticky bits of chmod(2).
	Mode int64
	// User and Group are the numbers of the owner.
	User, Group int
	// Target of a symbolic link.
	Target string
	// Content of a regular file.
	Content []byte
	// Source is the file on this machine that has the content instead; optional. Hard links to one
	// source become hard links in the layer.
	Source string
}

const (
	folderMode  = 0o755
	fileMode    = 0o644
	programMode = 0o755
	// linkMode is the mode of every symbolic link; nothing reads it.
	linkMode = 0o777
)

// Folder returns a folder of root's.
func Folder(path string, mode int64) File { return File{Path: path, Kind: tar.TypeDir, Mode: mode} }

// Regular returns a regular file of root's.
func Regular(path string, mode int64, content []byte) File {
	return File{Path: path, Kind: tar.TypeReg, Mode: mode, Content: content}
}

// Program returns a program of root's that is a file on this machine.
func Program(path, source string) File {
	return File{Path: path, Kind: tar.TypeReg, Mode: programMode, Source: source}
}

// Link returns a symbolic link.
func Link(path, target string) File {
	return File{Path: path, Kind: tar.TypeSymlink, Mode: linkMode, Target: target}
}

// Layer is what one layer of an image adds.
type Layer struct {
	// Content describes it in the image's history.
	Content string
	// Files in any order. Missing parent folders are created.
	Files []File
	// Plain layers are not compressed: they are read on the machine that makes them.
	Plain bool

	made v1.Layer
}

// build returns the layer for images, which share it.
func (l *Layer) build() (v1.Layer, error) {
	if l.made != nil {
		return l.made, nil
	}
	files, err := l.sorted()
	if err != nil {
		return nil, err
	}
	if l.Plain {
		var content bytes.Buffer
		if err := pack(&content, files); err != nil {
			return nil, err
		}
		l.made = static.NewLayer(content.Bytes(), types.OCIUncompressedLayer)
		return l.made, nil
	}
	l.made, err = tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { _ = writer.CloseWithError(pack(writer, files)) }()
		return reader, nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	return l.made, err
}

// sorted returns the files in the order of their paths, so that each folder comes before its files.
func (l *Layer) sorted() ([]File, error) {
	byPath := map[string]File{}
	for _, file := range l.Files {
		if file.Path == "" || path.Clean("/"+file.Path) != "/"+file.Path {
			return nil, fmt.Errorf("the path %q is not below the root", file.Path)
		}
		if _, found := byPath[file.Path]; found {
			return nil, fmt.Errorf("%s occurs twice", file.Path)
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
	for _, name := range slices.Sorted(maps.Keys(byPath)) {
		files = append(files, byPath[name])
	}
	return files, nil
}

// inode identifies a file on this machine.
type inode struct{ device, number uint64 }

// pack writes files as a tar file, in their order and without times.
func pack(to io.Writer, files []File) error {
	writer := tar.NewWriter(to)
	written := map[inode]string{}
	for _, file := range files {
		if err := add(writer, file, written); err != nil {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	return writer.Close()
}

// add writes one file. written has the paths, in the layer, of sources that it has already.
func add(writer *tar.Writer, file File, written map[inode]string) error {
	header := &tar.Header{
		Typeflag: file.Kind, Name: file.Path, Mode: file.Mode, Uid: file.User, Gid: file.Group,
		Size: int64(len(file.Content)), Linkname: file.Target,
	}
	if file.Kind == tar.TypeDir {
		header.Name += "/"
	}
	var content io.Reader = bytes.NewReader(file.Content)
	if file.Source != "" {
		source, err := os.Open(file.Source)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		var stat unix.Stat_t
		if err := unix.Fstat(int(source.Fd()), &stat); err != nil {
			return err
		}
		of := inode{device: stat.Dev, number: stat.Ino}
		if first, found := written[of]; found {
			header.Typeflag, header.Linkname = tar.TypeLink, first
			return writer.WriteHeader(header)
		}
		written[of] = header.Name
		header.Size, content = stat.Size, source
	}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(writer, content)
	return err
}

// authorities returns the certificate authorities that Mozilla trusts, from the module in go.mod,
// where programs look for them.
func authorities() File {
	var content []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			content = append(content, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return Regular("etc/ssl/certs/ca-certificates.crt", fileMode, content)
}
